import * as z from "zod/mini";
import { openEnum, type Schema } from "./schema.ts";
import { contextFields, telemetryEvent } from "./telemetry-parts.ts";

export const NetworkRequestEventShape = telemetryEvent("network_request", "network", () => ({
  ...contextFields(),
  /** Names the request in all of its events. */
  request_id: z.optional(z.string()),
  /** HTTP method. */
  method: z.optional(z.string()),
  /** The document that asked for it. */
  document_url: z.optional(z.string()),
  /** Header fields, as the browser tells them. */
  headers: z.optional(z.record(z.string(), z.unknown())),
  /** As CDP names it: `Document`, `Script`, `XHR`, … */
  resource_type: z.optional(z.string()),
  /** As CDP names it: `script`, `parser`, `preload`, `other`, … */
  initiator_type: z.optional(z.string()),
  /** What was sent, where it is text. */
  post_data: z.optional(z.string()),
  /** Whether a redirect led to it. */
  is_redirect: z.optional(z.boolean()),
  /** The address before the redirect. */
  redirect_url: z.optional(z.string()),
}));
/** A request was sent. */
export interface NetworkRequestEvent extends z.output<typeof NetworkRequestEventShape> {}
export const NetworkRequestEvent: Schema<NetworkRequestEvent> = NetworkRequestEventShape;

export const NetworkResponseEventShape = telemetryEvent("network_response", "network", () => ({
  ...contextFields(),
  /** Names the request in all of its events. */
  request_id: z.optional(z.string()),
  /** HTTP method. */
  method: z.optional(z.string()),
  /** HTTP status. */
  status: z.optional(z.int()),
  /** Text beside the status. */
  status_text: z.optional(z.string()),
  /** Header fields, as the browser tells them. */
  headers: z.optional(z.record(z.string(), z.unknown())),
  /** Type of the content. */
  mime_type: z.optional(z.string()),
  /** As CDP names it: `Document`, `Script`, `XHR`, … */
  resource_type: z.optional(z.string()),
  /** The body where it is text: at most 8 kB of JSON, XML and forms, 4 kB of other text. */
  body: z.optional(z.string()),
}));
/** An answer has come whole. */
export interface NetworkResponseEvent extends z.output<typeof NetworkResponseEventShape> {}
export const NetworkResponseEvent: Schema<NetworkResponseEvent> = NetworkResponseEventShape;

export const NetworkLoadingFailedEventShape = telemetryEvent("network_loading_failed", "network", () => ({
  ...contextFields(),
  /** Names the request in all of its events. */
  request_id: z.optional(z.string()),
  /** Chromium's name for the failure: `net::ERR_CONNECTION_REFUSED`. */
  error_text: z.optional(z.string()),
  /** Whether the page or the user gave it up. */
  canceled: z.optional(z.boolean()),
  /** As CDP names it: `Document`, `Script`, `XHR`, … */
  resource_type: z.optional(z.string()),
}));
/** A request failed. */
export interface NetworkLoadingFailedEvent extends z.output<typeof NetworkLoadingFailedEventShape> {}
export const NetworkLoadingFailedEvent: Schema<NetworkLoadingFailedEvent> = NetworkLoadingFailedEventShape;

export const NetworkIdleEventShape = telemetryEvent("network_idle", "network", contextFields);
/** Nothing was in flight for 500 ms. */
export interface NetworkIdleEvent extends z.output<typeof NetworkIdleEventShape> {}
export const NetworkIdleEvent: Schema<NetworkIdleEvent> = NetworkIdleEventShape;

export const ProxyErrorEventShape = telemetryEvent("proxy_error", "network", () => ({
  ...contextFields(),
  /** What went wrong. */
  code: openEnum(
    "destination_blocked",
    "provider_blacklisted",
    "provider_unreachable",
    "proxy_unavailable",
    "upstream_timeout",
    "upstream_dns_failure",
    "upstream_connect_failed",
  ),
  /** Names the request in all of its events. */
  request_id: z.string(),
  /** 502: no answer of the site. */
  status: z.int(),
  /** HTTP method. */
  method: z.optional(z.string()),
  /** As CDP names it: `Document`, `Script`, `XHR`, … */
  resource_type: z.optional(z.string()),
}));
/** The session's proxy could not serve a request. */
export interface ProxyErrorEvent extends z.output<typeof ProxyErrorEventShape> {}
export const ProxyErrorEvent: Schema<ProxyErrorEvent> = ProxyErrorEventShape;
