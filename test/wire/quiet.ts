// Faults are provoked on purpose in these tests; their log lines would bury the report. Imported for its effect.
process.env['HARNESSD_LOG'] ??= 'silent';
