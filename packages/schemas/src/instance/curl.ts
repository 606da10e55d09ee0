import * as z from "zod/mini";
import { errorFields } from "../base/error.ts";
import { alwaysSent, checked, lazyObject, openEnum } from "../base/schema.ts";

/** Input of `browsers.curl`. */
export interface Curl extends z.input<typeof Curl> {}
export const Curl = lazyObject(() => ({
  /** An `http:` or `https:` address, at most 65,536 characters. */
  url: checked(z.string(), z.maxLength(65_536), z.regex(/^https?:\/\//i, "must begin with http:// or https://")),
  /** HTTP method. */
  method: z._default(z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]), "GET"),
  /** Header fields, in place of the browser's own of the same name. */
  headers: z.optional(z.record(z.string(), z.string())),
  /** Body of the request, as text. */
  body: z.optional(z.string()),
  /** Milliseconds for the whole exchange, 1000 to 60,000. */
  timeout_ms: z._default(checked(z.int(), z.minimum(1000), z.maximum(60_000)), 30_000),
  /** How `body` of the answer is written: `utf8` as text, `base64` for bytes. An answer that is not text is always `base64`. */
  response_encoding: z._default(z.enum(["utf8", "base64"]), "utf8"),
}));

/** A site's answer to a request from the browser. */
export interface CurlResult extends z.output<typeof CurlResult> {}
export const CurlResult = lazyObject(() => ({
  /** HTTP status of the site's answer, after redirects. */
  status: z.int(),
  /** Header fields of the answer; each with all of its values. */
  headers: z.record(z.string(), z.array(z.string())),
  /** Body of the answer. Text is decoded by its byte order mark, the charset of the header, or the charset that the document names. */
  body: z.string(),
  /** How `body` is written: as `response_encoding` requested, and `base64` for an answer that is not text. */
  body_encoding: alwaysSent(openEnum("utf8", "base64")),
  /** Milliseconds that the exchange took. */
  duration_ms: z.int(),
}));

/** Why the browser got no answer from a site. */
export interface CurlError extends z.output<typeof CurlError> {}
export const CurlError = lazyObject(() => ({
  ...errorFields(),
  /** Chromium's number for the failure, below 0: `-105`. */
  net_error: z.optional(z.int()),
  /** Its name: `net::ERR_NAME_NOT_RESOLVED`. */
  net_error_name: z.optional(z.string()),
}));
