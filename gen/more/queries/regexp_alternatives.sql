-- some words, one of which is to be found
select count(*) from events where url ~ '.*(shop|help)/item-1.*'
