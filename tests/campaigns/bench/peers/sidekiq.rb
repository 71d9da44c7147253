# bench/peers/sidekiq.rb - Sidekiq with the work of a benchmark: enqueue|drain PORT COUNT
require 'json'
require 'sidekiq'

VERB, PORT, COUNT = ARGV[0], ARGV[1], ARGV[2].to_i
ADDRESS = { url: "redis://127.0.0.1:#{PORT}" }
Sidekiq.redis = ADDRESS
Redis.silence_deprecations = true if Redis.respond_to?(:silence_deprecations=)
Sidekiq.logger.level = Logger::FATAL

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def answer(start)
  STDOUT.puts JSON.generate(count: COUNT, seconds: now - start)
  STDOUT.flush
end

class Bench
  include Sidekiq::Worker
  @done = 0

  class << self
    attr_accessor :start

    def count_one
      @done += 1
      return unless @done == COUNT
      answer(start)
      exit!(0)
    end
  end

  def perform(_to, _subject, _number, _flag, _campaign)
    Bench.count_one
  end
end

def enqueue
  Sidekiq.redis { |connection| connection.call('PING') rescue connection.ping }
  start = now
  COUNT.times do |number|
    Bench.perform_async('ann@shop.example', 'Hello, is anybody there?', number, true, '01020304-0506-0708-090a-0b0c0d0e0f10')
  end
  answer(start)
end

# The worker is Sidekiq's own program, in this process.
def drain
  require 'sidekiq/cli'
  Sidekiq.on(:startup) { Bench.start = now }
  cli = Sidekiq::CLI.instance
  cli.parse(['-c', '1', '-q', 'default', '-r', File.expand_path('sidekiq_none.rb', __dir__)])
  Sidekiq.logger.level = Logger::FATAL
  cli.run
end

VERB == 'enqueue' ? enqueue : drain
