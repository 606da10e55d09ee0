import { invalid, type Refusal } from "../refusals/refusal.ts";

/** One entry of `network.allow` and `network.deny`, in its canonical form. */
export interface NetworkRule {
  /** `any`: `*`. `name`: exactly this name. `subdomains`: every name below it. `range`: addresses. */
  readonly kind: "any" | "name" | "subdomains" | "range";
  /** Lower case and punycode, without `*.` and final dots; of a range, CIDR notation without brackets. */
  readonly host: string;
  /** Absent = every port. */
  readonly port: number | undefined;
  /** As stored and shown: `*.example.com:443`, `[2001:db8::]/32:443`. */
  readonly text: string;
}

const hint =
  "Write a name (example.com), all names below one (*.example.com), an address or a range (10.0.0.0/8, 2001:db8::/32), or * for every host; each with a port if wanted (example.com:443). No scheme and no path.";
const maxNameCharacters = 253;

/** Returns the rule, or a problem that follows the quoted entry. */
export function readNetworkRule(entry: string): NetworkRule | { readonly problem: string } {
  const [, bracketed, bareIpv6, plain = "", lengthText, portText] =
    /^(?:\[([\da-f:.]+)\]|([\da-f.]*:[\da-f.]*:[\da-f:.]*)|([^\s:/?#@\\%[\]]+))(?:\/(\d{1,3}))?(?::(\d{1,5}))?$/i.exec(
      entry,
    ) ?? [];
  const ipv6 = bracketed ?? bareIpv6;
  if (ipv6 === undefined && plain === "") return { problem: "is not a host" };
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) return { problem: "has no port from 1 to 65535" };
  const length = lengthText === undefined ? undefined : Number(lengthText);
  if (ipv6 !== undefined) return ipv6Rule(ipv6, length, port);
  if (plain === "*") return length === undefined ? ruleOf("any", "*", port) : { problem: "is not a range" };
  const isWild = plain.startsWith("*.");
  const name = canonicalHost(isWild ? plain.slice(2) : plain);
  if (name === undefined) return { problem: "is not a host" };
  if (!/^\d+(?:\.\d+){3}$/.test(name)) {
    if (length !== undefined) return { problem: "has a length, which only addresses have" };
    return ruleOf(isWild ? "subdomains" : "name", name, port);
  }
  if (isWild) return { problem: "is an address; a range of addresses is written as 10.0.0.0/8" };
  if (length !== undefined && length > 32) return { problem: "is not a range: IPv4 lengths go from 0 to 32" };
  return ruleOf("range", length === undefined ? name : `${name}/${String(length)}`, port);
}

function ipv6Rule(
  text: string,
  length: number | undefined,
  port: number | undefined,
): NetworkRule | { readonly problem: string } {
  const address = URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
  if (address === undefined) return { problem: "is not an address" };
  if (length !== undefined && length > 128) return { problem: "is not a range: IPv6 lengths go from 0 to 128" };
  if (length !== undefined && length < 96 && /^::ffff:[\da-f]+:[\da-f]+$/.test(address))
    return { problem: "is a range of IPv4 addresses in IPv6 notation, whose length must be from 96 to 128" };
  return ruleOf("range", length === undefined ? address : `${address}/${String(length)}`, port);
}

function ruleOf(kind: NetworkRule["kind"], host: string, port: number | undefined): NetworkRule {
  const shown = kind === "subdomains" ? `*.${host}` : host;
  if (port === undefined) return { kind, host, port, text: shown };
  const [address = "", length] = shown.split("/");
  const withPort = address.includes(":")
    ? `[${address}]${length === undefined ? "" : `/${length}`}:${String(port)}`
    : `${shown}:${String(port)}`;
  return { kind, host, port, text: withPort };
}

/** IPv4 in historic notations (`0x7f.1`) becomes four decimal parts. */
function canonicalHost(text: string): string | undefined {
  if (text.includes("*")) return undefined;
  const name = URL.parse(`http://${text}/`)?.hostname.replace(/(?<!\.)\.+$/, "");
  return name === undefined || name === "" || name.length > maxNameCharacters ? undefined : name;
}

/** Returns canonical entries without duplicates, or a 400. @param field - such as `body.network.allow` */
export function readNetworkRules(
  field: string,
  entries: readonly string[],
): { readonly entries: readonly string[] } | { readonly refusal: Refusal } {
  const read: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const rule = readNetworkRule(entry);
    if ("problem" in rule)
      return { refusal: invalid(`${field}[${String(index)}]`, `${JSON.stringify(entry)} ${rule.problem}`, { hint }) };
    read.push(rule.text);
  }
  return { entries: [...new Set(read)] };
}

/** `allow` and `deny` of a session or a project, as requests write them; `null` removes a list. */
export interface RequestedNetworkRules {
  readonly allow?: readonly string[] | null | undefined;
  readonly deny?: readonly string[] | null | undefined;
}

/** Canonical lists, as stored; an absent `allow` allows all hosts. */
export interface NetworkRuleLists {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/**
 * Applies a request to the present lists: absent lists stay, `null` removes one. Returns canonical lists, or a 400.
 * An empty `allow` stays, because it refuses everything; an empty `deny` is removed.
 */
export function changedNetworkRules(
  request: RequestedNetworkRules,
  present: NetworkRuleLists = {},
): { readonly rules: NetworkRuleLists } | { readonly refusal: Refusal } {
  const lists: { allow?: readonly string[]; deny?: readonly string[] } = {};
  for (const list of ["allow", "deny"] as const) {
    const asked = request[list];
    const kept = present[list];
    if (asked === undefined && kept !== undefined) lists[list] = kept;
    if (asked === undefined || asked === null) continue;
    const read = readNetworkRules(`body.network.${list}`, asked);
    if ("refusal" in read) return read;
    if (list === "allow" || read.entries.length > 0) lists[list] = read.entries;
  }
  return { rules: lists };
}
