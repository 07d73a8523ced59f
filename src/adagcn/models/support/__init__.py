"""What serves all models: the scikit-learn face, settings, presets, registry, model files."""
