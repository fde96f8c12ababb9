"""What one picture, sound or clip costs a model, by that model's own rules. One small file per family.

A family is a frozen struct of its parameters: defaults as the published checkpoints are served, overridden by the
served model's preprocessor configuration or by the pool's settings. `registry` finds one by name; `price` asks one
about a media header. Formulas come from the `transformers` package, and vectors made by it stand in tests/golden.
"""
