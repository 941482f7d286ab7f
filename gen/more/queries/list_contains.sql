-- looks into lists
select count(*) from events where list_contains(['DE', 'FR', 'C7'], country) and event_id % 3 <> 0
