package tag

import (
	"iter"
	"strings"
)

// singleRules are the library's rules that look at one value only.
var singleRules = setOf(`
	required isdefault len min max eq eq_ignore_case ne ne_ignore_case lt lte gt gte oneof oneofci noneof noneofci
	alpha alphaspace alphanum alphanumspace alphaunicode alphanumunicode boolean numeric number hexadecimal
	hexcolor rgb rgba hsl hsla cmyk e164 email url http_url https_url uri origin urn_rfc8141 urn_rfc2141
	file filepath dir dirpath image mimetype base32 base64 base64url base64rawurl
	contains containsany containsrune excludes excludesall excludesrune startswith endswith startsnotwith endsnotwith
	isbn isbn10 isbn13 issn eth_addr eth_addr_checksum btc_addr btc_addr_bech32
	uuid uuid3 uuid4 uuid5 uuid7 uuid_rfc4122 uuid3_rfc4122 uuid4_rfc4122 uuid5_rfc4122 ulid
	md4 md5 sha256 sha384 sha512 ripemd128 ripemd160 tiger128 tiger160 tiger192
	ascii printascii multibyte datauri latitude longitude ssn ipv4 ipv6 ip cidrv4 cidrv6 cidr
	tcp4_addr tcp6_addr tcp_addr udp4_addr udp6_addr udp_addr ip4_addr ip6_addr ip_addr unix_addr uds_exists mac
	hostname hostname_rfc1123 hostname_label hostname_port port fqdn unique html html_encoded url_encoded json jwt
	lowercase uppercase datetime timezone iso3166_1_alpha2 iso3166_1_alpha2_eu iso3166_1_alpha3 iso3166_1_alpha3_eu
	iso3166_1_alpha_numeric iso3166_1_alpha_numeric_eu iso3166_2 iso4217 iso4217_numeric bcp47_language_tag
	bcp47_strict_language_tag postcode_iso3166_alpha2 bic_iso_9362_2014 bic semver dns_rfc1035_label credit_card cve
	luhn_checksum mongodb mongodb_connection_string cron spicedb ein duration`)

// aliases are the library's own aliases.
var aliases = setOf("iscolor country_code eu_country_code")

// across are the library's rules that look at other fields and refuse nil where they come first.
var across = setOf(`eqfield eqcsfield nefield necsfield gtfield gtecsfield gtcsfield gtefield ltfield ltecsfield ltcsfield ltefield
	fieldcontains fieldexcludes`)

// emptyPasses are the library's rules of single values, besides those that compare, that "" may pass.
var emptyPasses = setOf(`ascii printascii multibyte unix_addr url_encoded spicedb noneof noneofci ne_ignore_case
	excludes excludesall excludesrune startsnotwith endsnotwith`)

// conditions are the library's other rules that look at other fields, and the one that calls a method.
var conditions = setOf(`required_if required_unless skip_unless required_with required_with_all required_without required_without_all
	excluded_if excluded_unless excluded_with excluded_with_all excluded_without excluded_without_all
	postcode_iso3166_alpha2_field validateFn`)

// Known reports whether a rule is one of the library's, or one of its aliases.
func Known(rule string) bool { return Single(rule) || across[rule] || conditions[rule] }

// Single reports whether a rule is one of the library's that look at one value only. Of one that it does not know, also one
// of a later version of the library, it reports false.
func Single(rule string) bool { return singleRules[rule] || aliases[rule] }

// Singles are the rules for which Single reports true, in no order.
func Singles() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, set := range []map[string]bool{singleRules, aliases} {
			for rule := range set {
				if !yield(rule) {
					return
				}
			}
		}
	}
}

// Alias reports whether a name is one of the library's own aliases.
func Alias(name string) bool { return aliases[name] }

// Across reports whether a rule is one of the library's that compare with other fields.
func Across(rule string) bool { return across[rule] }

// PassesEmpty reports whether the text "" may pass a rule of the library that looks at one value only, with some parameter if
// it has one. Of rules that compare, such as eq, lt and isdefault, it reports false: their parameter decides.
func PassesEmpty(rule string) bool { return emptyPasses[rule] }

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
