"""Files, frames and foreign objects become plain checked arrays; nothing here knows ``Graph``."""
