import fc from "fast-check";
import { expect, it } from "vitest";
import { redactedBody, redactedHeader } from "./wire-log.ts";

const secretNames = ["key", "token", "password", "cdp_ws_url", "totp_secret", "values", "env_vars", "headers"];

it("redacts secrets of a body at any depth", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...secretNames),
      fc.array(fc.constantFrom("a", "b", "list"), { maxLength: 4 }),
      fc.stringMatching(/^[a-z0-9]{12,20}$/),
      (name, path, secret) => {
        const body = path.reduceRight<unknown>((inner, key) => (key === "list" ? [inner] : { [key]: inner }), {
          [name]: secret,
          other: 1,
        });
        const shown = redactedBody(JSON.stringify(body));
        expect(shown).not.toContain(secret);
        expect(shown).toContain('"other":1');
      },
    ),
  );
});

it("shows error codes and redacts codes of digits", () => {
  expect(redactedBody('{"code":"not_found","message":"m"}')).toBe('{"code":"not_found","message":"m"}');
  expect(redactedBody('{"code":"123456","expires_at":"x"}')).toBe('{"code":"[redacted]","expires_at":"x"}');
  expect(redactedBody("password=1")).toBe("[10 characters]");
});

it("redacts the token in the address of a form", () => {
  const url = "https://shoal.example/base/collect#item.link.signature";
  const shown = redactedBody(JSON.stringify([{ action: { name: "collect", url }, message: `open ${url} now` }]));
  expect(shown).not.toMatch(/item|link|signature/);
  expect(shown).toContain('"https://shoal.example/base/collect#[redacted]"');
  expect(shown).toContain("open https://shoal.example/base/collect#[redacted] now");
});

it("redacts tokens of live views, replays and connections in every field", () => {
  const token = "k3f9.1798761600.signature_-";
  const urls = [
    `https://shoal.example/browser/live/${token}?kiosk=true`,
    `https://shoal.example/base/browser/live/${token}/state`,
    `https://shoal.example/browser/replay/${token}`,
    `wss://shoal.example/browsers/k3f9/cdp?a=1&jwt=${token}`,
    `https://shoal.example/console/#page_key=${token}`,
  ];
  for (const url of urls) {
    const shown = redactedBody(JSON.stringify({ url, items: [{ replay_view_url: url }], message: `Open ${url} now` }));
    expect(shown).not.toContain("signature");
    expect(shown).toContain("shoal.example");
    expect(shown).toMatch(/\[redacted\]\S* now/);
  }
  expect(redactedBody('{"path":"/browser/live/","b":"a/browser/replays"}')).toBe(
    '{"path":"/browser/live/","b":"a/browser/replays"}',
  );
});

it("redacts secret headers", () => {
  expect(redactedHeader("authorization", "Bearer sk_1")).toBe("Bearer [redacted]");
  expect(redactedHeader("cookie", "a=b")).toBe("[redacted]");
  expect(redactedHeader("accept", "application/json")).toBe("application/json");
});
