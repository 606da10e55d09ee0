/** Names that only the resolvers of a company or a home know. */
const privateNames = /(?:^|\.)(?:localhost|local|internal|lan|home\.arpa)$/;

/** Loopback, private and link-local ranges. */
const privateIpv4 = /^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.[\d.]+$/;
const privateIpv6 = /^\[(?:::1?|::ffff:.*|f[cd][\da-f]{2}:.*|fe[89ab][\da-f]:.*)\]$/;

/**
 * Completes an address as people type it: `example.com` gets https. Hosts of this machine and of private networks get
 * http, because they rarely have certificates: `localhost:3000`, `192.168.1.5`, `intranet/wiki`. Addresses with a scheme
 * stay as they are.
 * @returns the text itself if it is not an address.
 */
export function typedAddress(text: string): string {
  const typed = text.trim();
  // `localhost:3000` begins like a scheme. A port has digits only.
  const hasScheme = /^[a-z][\w+.-]*:/i.test(typed) && !/^[\w.-]+:\d{1,5}(?:[/?#]|$)/.test(typed);
  if (hasScheme || typed === "" || /^[/?#.]|\s/.test(typed)) return text;
  const { hostname } = URL.parse(`http://${typed}`) ?? {};
  if (hostname === undefined) return text;
  const host = hostname.replace(/\.$/, "");
  const isPrivate =
    privateNames.test(host) || privateIpv4.test(host) || privateIpv6.test(host) || /^[^.[]+$/.test(host);
  return `${isPrivate ? "http" : "https"}://${typed}`;
}

/** Schemes that run scripts in the present page, or that only the browser's own pages use. */
const refusedSchemes = /^(?:javascript|view-source|devtools|chrome-untrusted):$/;

interface AddressProblem {
  readonly problem: string;
  readonly hint: string;
}

/** Why a browser cannot open a typed address; `undefined` if it can. */
export function addressProblem(typed: string): AddressProblem | undefined {
  const url = URL.parse(typedAddress(typed.trim()));
  if (url === null) return { problem: "not an address", hint: "Example: https://example.com/path." };
  if (!refusedSchemes.test(url.protocol)) return undefined;
  return { problem: `addresses with ${url.protocol} cannot be opened`, hint: "Use http or https." };
}

/** Why a typed address cannot be rendered: only pages of the web can. `undefined` if it can. */
export function renderProblem(typed: string): AddressProblem | undefined {
  const problem = addressProblem(typed);
  if (problem !== undefined || /^https?:/.test(new URL(typedAddress(typed.trim())).protocol)) return problem;
  return { problem: "must be an http or https address", hint: "Send a page as html." };
}
