/** A refusal that openapi.json does not state, because JSON Schema cannot, or because it depends on existing objects. */
interface UnwrittenRule {
  readonly reason: string;
  readonly texts: readonly RegExp[];
  /** Operations that have the rule; all when absent. */
  readonly operations?: RegExp;
}

const rules: readonly UnwrittenRule[] = [
  {
    reason: "refers to an object that does not exist",
    texts: [/was not found/, /does not exist/, /there is no /, /has no user/],
  },
  {
    reason: "is about the page or the file that the request meets",
    texts: [
      /is outside of the page/,
      /reaches beyond the page/,
      /it is (?:not )?a (?:directory|file)/,
      /is after the end/,
      /begins after the last page/,
      /not a ZIP archive/,
      /leaves no room/,
      /leads to the same file/,
      /is below files/,
      /the name .* is longer than/,
    ],
  },
  {
    reason: "depends on settings of the operator",
    texts: [
      /This service (?:has|provides) no /,
      /have no GPU/,
      /has no running server/,
      /needs headless: false/,
      /the limit of the organi[sz]ation/,
      /expected a public address/,
      /http is for private hosts/,
      /is not a kind of provider/,
      /needs a sandbox/,
      /need a full Chromium/,
      /from the limit/,
    ],
  },
  {
    reason: "depends on the current time",
    texts: [/is in the past/, /would live more than/, /would outlive the calling key/],
  },
  {
    reason: "compares a number with the length of a list",
    texts: [/at most as many names as count/],
    operations: /^browsers\.fork$/,
  },
  {
    reason: "compares two parameters of a query",
    texts: [
      /^query[.:].*(?:later than start|days after|before from|needs app_name|not together with|needs (?:path|supervisor_process))/,
    ],
  },
  { reason: "is about a token of an earlier answer", texts: [/expected the token of the previous page/] },
  {
    reason: "follows the standards of URLs and domain names",
    texts: [
      /expected a domain/,
      /is not an address/,
      /is not a range/,
      /a length, which only addresses have/,
      /not an address\. Example/,
      /not a valid address/,
      /https? address without query/,
      /is not an http or https URL/,
      /expected an https? or https? address/,
      /address that begins with http/,
      /expected an origin/,
      /is not a host/,
      /expected the address of a repository/,
      /is not a web address/,
    ],
  },
  {
    reason: "follows another language: JSON, CSS, cron, time zones, keys",
    texts: [
      /expected JSON as text/,
      /is not a valid CSS selector/,
      /expected a time zone/,
      /cron/,
      /unknown key/,
      /otpauth/,
      /branch, tag or commit/,
      /contains no certificate/,
      /a name of letters, digits and underscores/,
      /page_ranges: is invalid/,
    ],
  },
  {
    reason: "limits bytes of all headers together, and names without case",
    texts: [/at most 8192 bytes/, /has one name twice/, /is set by the service/],
  },
  {
    reason: "is about a setting or the token of one kind of credential provider",
    texts: [/body\.(?:settings|token)/],
    operations: /^credentialProviders\./,
  },
  { reason: "is the notation of a form: the fuzzer sends a list as one part", texts: [/a list must not be one part/] },
  {
    reason: "counts the items of a list in a query, where commas separate items",
    texts: [/^query\..*expected at most/],
  },
  {
    reason: "is about the names of operations and objects in the policy of a key",
    texts: [
      /is unknown; known are/,
      /names no operation/,
      /must be organizations/,
      /inside of the key's project/,
      /the new key would live/,
    ],
    operations: /^apiKeys\./,
  },
  {
    reason: "refuses a deprecated limit of the wire",
    texts: [/Set max_concurrent_sessions instead/],
    operations: /^projects\./,
  },
  {
    reason: "is an address, which no database can store with NUL",
    texts: [/^body\.(?:login|start)_url: must not contain a NUL/],
  },
  { reason: "is a date that the calendar does not have", texts: [/is not a valid date/] },
  { reason: "deletes the key of the request", texts: [/cannot delete itself/], operations: /^apiKeys\.delete$/ },
];

/** Whether a 400 for a request that openapi.json allows is one of the listed rules. @param text - the answer's body. */
export function isListedRule(operation: string, text: string): boolean {
  const { message } = JSON.parse(text.startsWith("{") && text.endsWith("}") ? text : "{}") as { message?: string };
  return rules.some(
    ({ operations, texts }) =>
      texts.some((pattern) => pattern.test(message ?? text)) && (operations?.test(operation) ?? true),
  );
}
