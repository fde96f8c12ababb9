"""From a YAML file, or a list of URLs, to a validated plan.

`document` reads YAML safely and remembers where each value stood; `schema` is the file's shape; `settings` holds what
the rooms above this one are set by; `assemble` puts the plan together. Errors name the place and the cure.
"""
