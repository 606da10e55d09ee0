import type { NetworkRequest } from "../telemetry/requests.ts";

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** curl sets them, or HTTP/2 has them in another place. */
const omitted = /^(?::|content-length$|host$|connection$)/i;

/** The request as a command for a shell. */
export function curlOf({ method, postData, requestHeaders, url }: NetworkRequest): string {
  return [
    // A page chose the URL, in which curl would expand [1-9] and {a,b}.
    `curl --globoff ${quoted(url)}`,
    ...(method === "GET" || (method === "POST" && postData !== undefined) ? [] : [`-X ${quoted(method)}`]),
    ...requestHeaders
      .filter(([name]) => !omitted.test(name))
      .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(postData === undefined ? [] : [`--data-raw ${quoted(postData)}`]),
  ].join(" \\\n  ");
}
