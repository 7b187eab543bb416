"""A ScheduleResult, shown: as a table, as JSON or YAML, as names."""
