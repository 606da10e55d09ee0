import * as z from "zod/mini";
import { pageFields, SlugName, Timestamp } from "../base/common.ts";
import { checked, lazyObject, type Schema } from "../base/schema.ts";
import { checkedLater, rule } from "../base/rules.ts";
import { webAddress } from "../base/site-name.ts";

/** An OpenTelemetry receiver that sessions' telemetry can be sent to. */
export interface OtlpDestination extends z.output<typeof OtlpDestination> {}
export const OtlpDestination = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Unique in the project. */
  name: z.string(),
  /** Base address of the OTLP receiver. */
  endpoint: z.string(),
  /** Description. */
  description: z.optional(z.nullable(z.string())),
  /** Names of the headers that are sent to it; the values are secrets, and empty here. */
  headers: z.record(z.string(), z.string()),
  /** Requests in a row that it did not take; 0 after a success. */
  consecutive_failures: z.int(),
  /** When it last took events. */
  last_export_at: z.optional(Timestamp),
  /** Why it last did not take events. Kept after a success. */
  last_error: z.optional(z.string()),
  /** Time of `last_error`. */
  last_error_at: z.optional(Timestamp),
  /** Creation time. */
  created_at: Timestamp,
  /** When it was last changed. */
  updated_at: Timestamp,
}));

/** An OTLP base address: http or https, without `/v1/logs` and the like, query or fragment. */
const Endpoint: Schema<string> = z.lazy(() =>
  checked(
    z.string(),
    z.maxLength(2048),
    z.regex(/^https?:\/\/[^\s?#]+$/i, "must be an http or https address without query and fragment"),
    checkedLater({ keywords: { pattern: webAddress } }),
    rule(
      (endpoint) => !/\/v1\/(?:logs|traces|metrics)\/?$/.test(endpoint),
      "must be the base address, without /v1/logs, /v1/traces or /v1/metrics",
      { keywords: { not: { pattern: "/v1/(?:logs|traces|metrics)/?$" } } },
    ),
  ),
);
const Description: Schema<string> = z.lazy(() => checked(z.string(), z.maxLength(1024)));
const HeaderName: Schema<string> = z.lazy(() =>
  checked(z.string(), z.regex(/^[\w!#$%&'*+.^`|~-]+$/, "must be a header's name")),
);
const HeaderValue: Schema<string> = z.lazy(() =>
  checked(
    z.string(),
    z.regex(/^[\t\x20-\x7e\x80-\xff]*$/, "must be a header's value: no line breaks, no characters beyond Latin-1"),
  ),
);

const maxHeaderBytes = 8192;
const headerBytes = (headers: Readonly<Record<string, string | null>>): number =>
  Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + (value?.length ?? 0), 0);
const haveOneCase = (headers: Readonly<Record<string, unknown>>): boolean =>
  new Set(Object.keys(headers).map((name) => name.toLowerCase())).size === Object.keys(headers).length;

/** Input of `telemetry.destinations.create`. */
export interface CreateOtlpDestination extends z.input<typeof CreateOtlpDestination> {}
export const CreateOtlpDestination = lazyObject(() => ({
  /** Unique in the project: 1 to 255 letters, digits, dots, underscores and hyphens. */
  name: SlugName,
  /** Base address of the OTLP receiver, http or https, without `/v1/logs` and the like, query and fragment; at most 2048 characters. */
  endpoint: Endpoint,
  /** Description, at most 1024 characters. */
  description: z.optional(Description),
  /** Headers to send with everything, names and values together at most 8192 bytes. They are kept encrypted; only their names can be read again. */
  headers: z.optional(
    checked(
      z.record(HeaderName, HeaderValue),
      z.refine(
        (headers) => headerBytes(headers) <= maxHeaderBytes,
        "names and values together must be at most 8192 bytes",
      ),
      z.refine(haveOneCase, "has one name twice: upper and lower case make no difference"),
    ),
  ),
}));

/** Input of `telemetry.destinations.update`. */
export interface UpdateOtlpDestination extends z.input<typeof UpdateOtlpDestination> {}
export const UpdateOtlpDestination = lazyObject(() => ({
  /** The new name, unique in the project: 1 to 255 letters, digits, dots, underscores and hyphens. */
  name: z.optional(SlugName),
  /** The new base address, as in `telemetry.destinations.create`. */
  endpoint: z.optional(Endpoint),
  /** The new description, at most 1024 characters. */
  description: z.optional(Description),
  /** Headers to set, or to remove with `null`. Absent headers stay. At most 8192 bytes in total. */
  headers: z.optional(
    checked(
      z.record(HeaderName, z.nullable(HeaderValue)),
      z.refine(
        (headers) => headerBytes(headers) <= maxHeaderBytes,
        "names and values together must be at most 8192 bytes",
      ),
      z.refine(haveOneCase, "has one name twice: upper and lower case make no difference"),
    ),
  ),
}));

/** Input of `telemetry.destinations.list`. */
export interface ListOtlpDestinations extends z.input<typeof ListOtlpDestinations> {}
export const ListOtlpDestinations = lazyObject(() => ({
  ...pageFields,
  /** Part of a name (case does not matter), or a whole id. */
  query: z.optional(z.string()),
  /** A whole name; case and accents do not matter. */
  name: z.optional(z.string()),
}));
