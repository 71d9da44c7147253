# bench/peers/sidekiq_none.rb - the program of a Sidekiq worker whose jobs are there already
