# Writes the Gemfile.lock of a Gemfile that has none. It parses the Gemfile and the gemspecs, and
# runs nothing of them: it sees the gems whose names are literals. Gems that this Ruby has already,
# and those of git repositories and directories, are left out.
require "ripper"
require "rubygems/remote_fetcher"
require "rubygems/resolver"
require "tsort"
require "uri"

SOURCE = ENV.fetch("GEM_SOURCE").chomp("/")
ELSEWHERE = %w[git github gist bitbucket gitlab path source].freeze
DEPENDENCIES = %w[add_dependency add_runtime_dependency add_development_dependency].freeze

# literal returns the text of a string, symbol or label in a syntax tree, nil for code.
def literal(node)
  case node
  in [:string_literal, [:string_content, [:@tstring_content, text, _]]] then text
  in [:symbol_literal, [:symbol, [_, text, _]]] then text
  in [:@label, text, _] then text.chomp(":")
  else nil
  end
end

# calls yields the name and the arguments of each call in a syntax tree.
def calls(node, &found)
  return unless node.is_a?(Array)
  case node
  in [:command, [:@ident, name, _], [:args_add_block, arguments, *]] then found.(name, arguments)
  in [:command_call, _, _, [:@ident, name, _], [:args_add_block, arguments, *]] then found.(name, arguments)
  in [:method_add_arg, [:fcall, [:@ident, name, _]], [:arg_paren, [:args_add_block, arguments, *]]] then found.(name, arguments)
  in [:method_add_arg, [:call, _, _, [:@ident, name, _]], [:arg_paren, [:args_add_block, arguments, *]]] then found.(name, arguments)
  else nil
  end
  node.each { |child| calls(child, &found) }
end

# gems returns the gems of a file, each with its requirements.
def gems(file, methods)
  tree = Ripper.sexp(File.read(file)) or abort "#{file} is not Ruby"
  wanted = []
  calls(tree) do |name, arguments|
    next unless methods.include?(name)
    options = arguments.grep(->(a) { a in [:bare_assoc_hash, _] }).flat_map { |a| a[1] }
    next if options.any? { |o| o in [:assoc_new, key, _] and ELSEWHERE.include?(literal(key)) }
    title, *requirements = arguments.map { |a| literal(a) }
    wanted << Gem::Dependency.new(title, *requirements.compact) if title&.match?(/\A\w[\w.-]*\z/)
  rescue ArgumentError
    abort "#{file}: #{title} has no such requirement: #{requirements.compact.join(", ")}"
  end
  wanted
end

# Found is one version of a gem in the index.
class Found < Gem::Resolver::Specification
  attr_reader :sum

  def initialize(set, name, number, needs, facts)
    super()
    version, platform = number.split("-", 2)
    @set, @name, @version, @platform = set, name, Gem::Version.new(version), Gem::Platform.new(platform || "ruby")
    @dependencies = needs.split(",").map { |n| Gem::Dependency.new(n[/\A[^:]+/], *n[/:(.*)/, 1].split("&")) }
    @facts = facts.split(",").to_h { |f| f.split(":", 2) }
    @sum = @facts["checksum"]
  end

  def installable_platform? = true # Index offers no others

  def usable?
    Gem::Platform.local === @platform || @platform == "ruby" and
      Gem::Requirement.new(*@facts.fetch("ruby", ">= 0").split("&")).satisfied_by?(Gem.ruby_version)
  end
end

# Index reads the compact index of the source.
class Index < Gem::Resolver::Set
  def find_all(wanted)
    all(wanted.name).select { |f| wanted.match?(f, wanted.dependency.prerelease?) }
  end

  def prefetch(_) = nil

  def all(name)
    @all ||= {}
    @all[name] ||= Gem::RemoteFetcher.fetcher.fetch_path(URI("#{SOURCE}/info/#{name}")).each_line(chomp: true).filter_map do |line|
      number, needs, facts = line.match(/\A(\d\S*) (.*)\|(.*)\z/)&.captures
      next unless number
      found = Found.new(self, name, number, needs, facts)
      found if found.usable?
    end
  rescue Gem::RemoteFetcher::FetchError => e
    e.message.include?("404") ? [] : raise
  end
end

wanted = gems(Dir["{Gemfile,gems.rb}"].first, ["gem"]) + Dir["*.gemspec"].flat_map { |f| gems(f, DEPENDENCIES) }
wanted = wanted.group_by(&:name).map { |_, same| same.min_by { |d| d.requirement.none? ? 0 : 1 } } # branches of an if
wanted.reject! { |d| d.name == "bundler" || d.matching_specs.any? }
begin
  chosen = wanted.empty? ? [] : Gem::Resolver.new(wanted, Index.new).resolve.map(&:spec)
rescue Gem::DependencyError, Gem::RemoteFetcher::FetchError => e
  abort e.message
end

File.open("Gemfile.lock", "w") do |lock|
  lock.puts "GEM", "  remote: #{SOURCE}/", "  specs:"
  chosen.each do |f|
    lock.puts "    #{f.name} (#{[f.version, (f.platform unless f.platform == "ruby")].compact.join("-")})"
    f.dependencies.each { |d| lock.puts "      #{d.name}" }
  end
  lock.puts "", "CHECKSUMS"
  chosen.each { |f| lock.puts "  #{f.name} (#{f.version}) sha256=#{f.sum}" if f.sum && f.platform == "ruby" }
end
