import type { Terminal } from "../core/types.ts";
import { printable, printableLines } from "../output/format.ts";
import { styled } from "../output/output.ts";
import type { PlainAnswer, PlainRequest } from "./send.ts";

const secretFields =
  /^(?:key|api_key|password|secret|client_secret|token|access_token|refresh_token|jwt|totp_secret|totp_code|value|cookie|authorization|cdp_ws_url|webdriver_ws_url|playwright_ws_url|base_url|browser_live_view_url|browser_live_view_read_only_url|replay_view_url|hosted_url|handoff_code|proxy_url|values|env|env_vars|headers|ca_bundle)$/i;
const secretHeaders = /^(?:authorization|cookie|set-cookie|proxy-authorization|x-api-key)$/i;
/** Anyone with the URL of a form can enter values, and with that of a live view, a replay or a connection use the session. */
const tokensInUrls = /(?<=\/collect#)\S+|(?<=\/browser\/(?:live|replay)\/|[?&#](?:jwt|page_key)=)[^\s"'<>?#&/]+/g;
const longest = 4000;

/** Shows only the length of text other than JSON, which may contain secrets anywhere. */
export function redactedBody(text: string): string {
  try {
    return JSON.stringify(
      JSON.parse(text, (name, value: unknown) => {
        // Error codes have no digits; one-time codes do.
        const isSecret = secretFields.test(name) || (name === "code" && typeof value === "string" && /\d/.test(value));
        if (isSecret && value !== null && typeof value !== "boolean") return "[redacted]";
        return typeof value === "string" ? value.replaceAll(tokensInUrls, "[redacted]") : value;
      }),
    );
  } catch {
    return `[${String(text.length)} characters]`;
  }
}

export function redactedHeader(name: string, value: string): string {
  return secretHeaders.test(name)
    ? value.replace(/^(\w+ )?.*$/s, (_whole, scheme: string | undefined) => `${scheme ?? ""}[redacted]`)
    : value;
}

const redactedUrl = (url: string): string =>
  url
    .replaceAll(tokensInUrls, "[redacted]")
    .replace(/(?<=[?&])([^=&?]*)=[^&]*/g, (pair: string, name: string) =>
      /jwt|token|key/i.test(name) ? `${name}=[redacted]` : pair,
    );

/** Like `curl -v`, with secrets redacted. */
export function wireLog(
  terminal: Terminal,
  apiKey: string | undefined,
): {
  request(request: PlainRequest): void;
  answer(answer: Pick<PlainAnswer, "status" | "headers"> & { readonly text?: string }): void;
  failure(error: Error): void;
} {
  const safe = (text: string) =>
    apiKey === undefined || apiKey.length < 8 ? text : text.replaceAll(apiKey, "[redacted]");
  const write = (mark: string, lines: readonly string[]) => {
    for (const line of lines)
      terminal.stderr.write(`${styled({ colour: terminal.errorColour }, "dim", `${mark} ${printable(safe(line))}`)}\n`);
  };
  const headerLines = (headers: Readonly<Record<string, string>>) =>
    Object.entries(headers).map(([name, value]) => `${name}: ${redactedHeader(name, value)}`);
  const bodyLines = (text: string | undefined) =>
    text === undefined || text === "" ? [] : ["", printableLines(redactedBody(text).slice(0, longest))];
  let startedAt = performance.now();
  return {
    request({ method, url, headers, body }) {
      startedAt = performance.now();
      write(">", [`${method} ${redactedUrl(url)}`, ...headerLines(headers), ...bodyLines(body)]);
    },
    answer({ status, headers, text }) {
      write("<", [
        `${String(status)} after ${(performance.now() - startedAt).toFixed(0)} ms`,
        ...headerLines(headers),
        ...bodyLines(text),
      ]);
    },
    failure(error) {
      write("!", [error.message || error.name]);
    },
  };
}
