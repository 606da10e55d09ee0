import { CreateAuditLogExportDestination } from "@shoal/schemas";
import fc from "fast-check";
import { expect, it } from "vitest";
import { targetDestination } from "../testing/export-target.ts";
import { awsIdentityProblem, bucketUrl, readAwsIdentity, stsUrl } from "./aws-identity.ts";

it("reads keys and region, and says what is wrong without saying the secret", () => {
  expect(readAwsIdentity("aws://AKIA1:a%2Fb%2Bc=@eu-central-1")).toEqual({ accessKey: "AKIA1", secretKey: "a/b+c=", region: "eu-central-1" });
  for (const [value, problem] of [
    ["s3://AKIA1:topsecret@eu-central-1", "must be aws://"],
    ["aws://AKIA1@eu-central-1", "must be aws://"],
    ["aws://AKIA1:topsecret", "must be aws://"],
    ["aws://AKIA1:top/secret@eu-central-1", "%2F"],
    ["aws://AKIA1:topsecret@localhost", "region"],
    ["aws://AKIA1:topsecret%@eu-central-1", "%25"],
    ["aws://ASIA1:topsecret@eu-central-1", "temporary"],
  ] as const) {
    expect(awsIdentityProblem(value)).toContain(problem);
    expect(awsIdentityProblem(value)).not.toContain("topsecret");
  }
});

it("finds AWS's own hosts by bucket and region", () => {
  expect(bucketUrl("acme-audit", "eu-central-1")).toBe("https://acme-audit.s3.eu-central-1.amazonaws.com");
  expect(bucketUrl("acme.audit", "us-gov-west-1")).toBe("https://s3.us-gov-west-1.amazonaws.com/acme.audit");
  expect(bucketUrl("acme-audit", "cn-north-1")).toBe("https://acme-audit.s3.cn-north-1.amazonaws.com.cn");
  expect(stsUrl("eu-central-1")).toBe("https://sts.eu-central-1.amazonaws.com/");
});

it("leads nowhere else, whatever is taken as a bucket, a region and a prefix", () => {
  const rough = fc.string({
    unit: fc.constantFrom("a", "b", "1", ".", "-", "/", "@", ":", "#", "?", "%", "\\", "_", " ", "\n", "=", "A"),
    maxLength: 12,
  });
  // Near what is taken, with something else at its end.
  const near = (good: string) => fc.tuple(fc.constantFrom("", good), fc.oneof(fc.constant(""), rough)).map((parts) => parts.join(""));
  const bucket = fc.oneof(near("bucket"), fc.stringMatching(/^[a-z0-9.-]{3,20}$/));
  const region = fc.oneof(near("eu-central-1"), near("cn-north-1"));
  let taken = 0;
  fc.assert(
    fc.property(bucket, region, rough, (name, place, prefix) => {
      const parsed = CreateAuditLogExportDestination.safeParse({ ...targetDestination, bucket: name, region: place, prefix });
      if (!parsed.success) return;
      taken += 1;
      const host = `s3.${place}.amazonaws.com`;
      const url = new URL(`${bucketUrl(name, place)}/${prefix}x`);
      expect([`${name}.${host}`, host]).toContain(url.host.replace(/\.cn$/, ""));
      expect(url.pathname).toBe(name.includes(".") ? `/${name}/${prefix}x` : `/${prefix}x`);
      expect(url.search + url.hash + url.username).toBe("");
    }),
    { numRuns: 3000 },
  );
  expect(taken).toBeGreaterThan(20);
});
