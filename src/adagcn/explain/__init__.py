"""Parts of one prediction, and how sure it is: formulas that know no model."""
