import { X509Certificate } from "node:crypto";
import { afterEach, expect, it, vi } from "vitest";
import { TlsIdentity } from "./index.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("renews its certificate after half its life, with the same key", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const identity = new TlsIdentity("instance", 10_000);
  const first = identity.credentials;
  vi.setSystemTime(Date.now() + 4_999);
  expect(identity.credentials).toBe(first);
  vi.setSystemTime(Date.now() + 1);
  const second = identity.credentials;
  expect(second.cert).not.toBe(first.cert);
  expect(second.key).toBe(first.key);
  const certificate = new X509Certificate(second.cert);
  expect(certificate.subject).toBe("CN=instance");
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.validToDate.getTime()).toBeGreaterThan(Date.now());
});
