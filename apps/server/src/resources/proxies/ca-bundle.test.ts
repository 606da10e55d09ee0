import { ServiceError } from "@shoal/router";
import fc from "fast-check";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { checkBundle } from "./ca-bundle.ts";

const read = (file: string) =>
  readFileSync(new URL(`../../../../../tools/certificates/${file}`, import.meta.url), "utf8");
const authority = read("authority.pem");
const other = read("other-authority.pem");

/** The error text; `undefined` for a valid bundle. */
function problemOf(text: string): string | undefined {
  try {
    checkBundle(text);
    return undefined;
  } catch (error) {
    if (!ServiceError.isInstance(error) || error.status !== 400) throw error;
    return error.message.replace(/^body\.config\.ca_bundle: /, "");
  }
}

it("returns CA certificates only, without duplicates", () => {
  expect(checkBundle(authority)).toBe(authority);
  expect(checkBundle(`subject=/CN=one\r\n${authority.replaceAll("\n", "\r\n")}# again\n${authority}${other} `)).toBe(
    authority + other,
  );
  // Some tools write PEM without line breaks.
  expect(checkBundle(other.replace(/(?<=[A-Za-z0-9+/=])\n(?=[A-Za-z0-9+/=])/g, ""))).toBe(other);
});

it.each([
  ["nothing", " ", /^contains no certificate/],
  ["text", "certificate.pem", /^contains no certificate/],
  ["a certificate without its end", authority.slice(0, -10), /^has an incomplete block/],
  ["one of two that was cut off", authority + other.slice(0, -10), /^has an incomplete block/],
  ["an end too many", `${authority}-----END CERTIFICATE-----`, /^has an incomplete block/],
  ["the certificate of a server", authority + read("site.pem"), /^block 2 of 2 is not a CA certificate/],
  ["an authority that is over", read("old-authority.pem"), /^block 1 of 1 expired on 2021-01-01T00:00:00\.000Z/],
  [
    "a request for a certificate",
    authority.replaceAll("CERTIFICATE", "CERTIFICATE REQUEST"),
    /^block 1 of 1 is not a certificate/,
  ],
  [
    "two certificates in one block",
    authority.replace(/\n-----END/, `${authority.split("\n").slice(1, -2).join("\n")}\n-----END`),
    /^block 1 of 1 cannot be read/,
  ],
  ["invalid base64", authority.replace(/(?<=\n)M/, "!"), /^block 1 of 1 cannot be read/],
  [
    "something behind the certificate",
    authority.replace(
      /-----BEGIN CERTIFICATE-----([^-]*)-----END/,
      (_match, text: string) =>
        `-----BEGIN CERTIFICATE-----\n${Buffer.concat([Buffer.from(text, "base64"), Buffer.from("more")]).toString("base64")}\n-----END`,
    ),
    /^block 1 of 1 cannot be read/,
  ],
  ["too much", authority + "x".repeat(65_536), /^expected at most 65536 bytes/],
  ["too much in bytes", authority + "ä".repeat(32_768), /^expected at most 65536 bytes/],
])("rejects %s", (_what, text, problem) => {
  expect(problemOf(text)).toMatch(problem);
});

it("rejects private keys of every kind at any position, without quoting them", () => {
  const key = read("leaf.key");
  for (const text of [
    key,
    authority + key,
    key + authority,
    authority + key.replaceAll("PRIVATE", "EC PRIVATE"),
    authority + key.replaceAll("PRIVATE", "ENCRYPTED PRIVATE").slice(0, -20),
    `${authority}${key.toLowerCase()}`,
  ]) {
    const problem = problemOf(text) ?? "";
    expect(problem).toMatch(/^contains a private key\. Nothing was stored/);
    expect(problem).not.toContain(key.split("\n")[1] ?? "");
  }
});

it("never accepts other certificates, and never quotes the input", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", minLength: 8 }),
      fc.nat(authority.length),
      fc.nat(20),
      (text, at, length) => {
        const changed = authority.slice(0, at) + text + authority.slice(at + length);
        const problem = problemOf(changed);
        if (problem === undefined)
          for (const block of checkBundle(changed).split(/(?<=-----END CERTIFICATE-----\n)/))
            expect(new X509Certificate(block).ca).toBe(true);
        else if (text.trim().length >= 8) expect(problem).not.toContain(text);
      },
    ),
  );
});
