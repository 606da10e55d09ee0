import type { IncomingMessage } from "node:http";
import { type Markup } from "./markup.ts";

const maxBodyBytes = 65_536;

/** A request that a site answers. */
export interface SiteRequest {
  readonly method: string;
  readonly url: URL;
  readonly header: (name: string) => string | undefined;
  readonly cookie: (name: string) => string | undefined;
  /** A field of the form or of the JSON body; `""` if missing. */
  readonly field: (name: string) => string;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: string;
}

interface ReplyOptions {
  readonly status?: number;
  readonly cookies?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A page. */
export function html(page: Markup, options: ReplyOptions = {}): Reply {
  return typed("text/html; charset=utf-8", `<!doctype html>\n${page.text}`, options);
}

export function json(value: unknown, options: ReplyOptions = {}): Reply {
  return typed("application/json", JSON.stringify(value), options);
}

export function script(source: string): Reply {
  return typed("text/javascript; charset=utf-8", source, {});
}

export function style(source: string): Reply {
  return typed("text/css; charset=utf-8", source, {});
}

/** 303: the browser sends a GET to `location`. */
export function redirect(location: string, cookies: readonly string[] = []): Reply {
  return { status: 303, headers: { location }, cookies, body: "" };
}

function typed(type: string, body: string, { status = 200, cookies = [], headers = {} }: ReplyOptions): Reply {
  return { status, headers: { "content-type": type, ...headers }, cookies, body };
}

/** @throws {Error} if the body has more than 64 KiB. */
export async function readRequest(message: IncomingMessage, host: string): Promise<SiteRequest> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new Error("The body of a request to a test site is limited to 64 KiB.");
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks).toString();
  const type = message.headers["content-type"] ?? "";
  const fields = type.startsWith("application/json") ? jsonFields(body) : new URLSearchParams(body);
  const cookies = new Map(
    (message.headers.cookie ?? "").split("; ").map((pair): [string, string] => {
      const [name = "", ...value] = pair.split("=");
      return [name, value.join("=")];
    }),
  );
  return {
    method: message.method ?? "GET",
    url: new URL(message.url ?? "/", `https://${host}`),
    header: (name) => [message.headers[name]].flat()[0],
    cookie: (name) => cookies.get(name),
    field: (name) => fields.get(name) ?? "",
  };
}

function jsonFields(body: string): Map<string, string> {
  const value: unknown = JSON.parse(body);
  return new Map(
    Object.entries(value as object).flatMap(([name, field]): [string, string][] =>
      typeof field === "string" ? [[name, field]] : [],
    ),
  );
}
