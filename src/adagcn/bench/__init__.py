"""What things cost, measured: epochs and fits beside their peers, propagation, growth with size."""
