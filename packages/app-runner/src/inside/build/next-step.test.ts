import { expect, it } from "vitest";
import { nextStep } from "./next-step.ts";

it.each([
  "npm error code SELF_SIGNED_CERT_IN_CHAIN\nnpm error self-signed certificate in certificate chain",
  "npm error code UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "ERR_PNPM_META_FETCH_FAIL  request to https://registry.example/ms failed, reason: unable to verify the first certificate",
  "unable to get local issuer certificate",
  "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
])("names the setting of authorities for %s", (output) => {
  expect(nextStep(output)).toMatch(/--build-registry-ca FILE, or to set cafile in npm's settings/);
});

it.each([
  "npm error code ENOTFOUND",
  "connect ECONNREFUSED 127.0.0.1:4873",
  "npm error 503 Service Unavailable - GET https://registry.example/ms",
  "GET https://registry.example/ms: Service Unavailable - 503",
])("names the address of the registry for %s", (output) => {
  expect(nextStep(output)).toContain("--build-registry URL");
  expect(nextStep(output, "build_python_index")).toContain("--build-python-index URL");
});

it.each([
  "npm error 404 Not Found - GET https://registry.example/mss",
  "npm error code ERESOLVE",
  "line 503 of index.js",
])("is silent about %s", (output) => {
  expect(nextStep(output)).toBe("");
});
