import type { FastifyRequest } from "fastify";

/** Headers of every file of a site that the service serves. */
export const fileProtection = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
};

/** Policy of files that are not pages of the site, when a browser opens them. */
export const filePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/** Headers of its pages, next to their own `content-security-policy`. */
export const pageProtection = {
  ...fileProtection,
  "content-type": "text/html; charset=utf-8",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "x-frame-options": "DENY",
};

export function cacheControl(isHashed: boolean, otherwise: string): string {
  return isHashed ? "public, max-age=31536000, immutable" : otherwise;
}

export function acceptsCoding({ headers }: FastifyRequest, coding: "br" | "gzip"): boolean {
  const accepted = [headers["accept-encoding"] ?? ""].flat().join(",");
  return new RegExp(`\\b${coding}\\b(?!\\s*;\\s*q=0(?:\\.0+)?(?![.\\d]))`).test(accepted);
}
