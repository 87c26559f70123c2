# Downloads the gems that Gemfile.lock names, and writes the order in which they are installed.
# It runs nothing of the repository or of a gem. Without a lock, resolve.rb writes one.
load "resolve.rb" unless File.exist?("Gemfile.lock")

require "digest"
require "tsort"
require "uri"
require "rubygems/remote_fetcher"

source = ENV.fetch("GEM_SOURCE").chomp("/")
known = [source, ENV["GEM_PUBLIC"].to_s.chomp("/")]
section, foreign, last = nil, nil, nil
versions, needs, sums = Hash.new { |h, k| h[k] = [] }, Hash.new { |h, k| h[k] = [] }, {}

File.foreach("Gemfile.lock", chomp: true) do |line|
  case line
  when /\A[A-Z]/
    section, foreign = line, nil
  when /\A  remote: (\S+)/
    foreign = $1 if section == "GEM" && !known.include?($1.chomp("/"))
  when /\A    ([\w.-]+) \(([\w.]+)(?:-([\w.-]+))?\)/
    next unless section == "GEM"
    abort "Gemfile.lock has #{$1} from #{foreign}, which is no source of gems by the configuration of this machine" if foreign
    versions[last = $1] << [$2, $3]
  when /\A      ([\w.-]+)/
    needs[last] << $1 if section == "GEM"
  when /\A  ([\w.-]+) \(([\w.-]+)\) sha256=(\h{64})/
    sums["#{$1}-#{$2}"] = $3 if section == "CHECKSUMS"
  end
end

names = TSort.tsort(->(&b) { versions.each_key(&b) }, ->(n, &b) { (needs[n].uniq & versions.keys).each(&b) }) rescue versions.keys
Dir.mkdir("cache")
files = names.map do |name|
  mine, any = versions[name].partition { |_, platform| platform && Gem::Platform.new(platform) === Gem::Platform.local }
  chosen = mine.first || any.find { |_, platform| platform.nil? } or next
  full = [name, *chosen].compact.join("-")
  content = Gem::RemoteFetcher.fetcher.fetch_path(URI("#{source}/gems/#{full}.gem"))
  abort "#{full}.gem has another checksum than in Gemfile.lock" if sums[full] && Digest::SHA256.hexdigest(content) != sums[full]
  puts full
  File.binwrite("cache/#{full}.gem", content)
  "cache/#{full}.gem"
end
File.write("order.txt", files.compact.join("\n") + "\n")
