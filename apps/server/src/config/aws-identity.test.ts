import { CreateAuditLogExportDestination } from "@shoal/schemas";
import { S3Client } from "@aws-sdk/client-s3";
import fc from "fast-check";
import { expect, it } from "vitest";
import { targetDestination } from "../testing/export-target.ts";
import { awsIdentityProblem, readAwsIdentity } from "./aws-identity.ts";

it("reads keys and region, and reports problems without the secret", () => {
  expect(readAwsIdentity("aws://AKIA1:a%2Fb%2Bc=@eu-central-1")).toEqual({
    keys: { accessKey: "AKIA1", secretKey: "a/b+c=" },
    region: "eu-central-1",
  });
  expect(readAwsIdentity("aws://eu-central-1")).toEqual({ keys: undefined, region: "eu-central-1" });
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

it("sends requests only to hosts of AWS, for every bucket and region that the schema accepts", () => {
  const client = new S3Client({ region: "eu-central-1" });
  const rough = fc.string({
    unit: fc.constantFrom("a", "b", "1", ".", "-", "/", "@", ":", "#", "?", "%", "\\", "_", " ", "\n", "=", "A"),
    maxLength: 12,
  });
  // A valid name with invalid characters at its end.
  const near = (good: string) =>
    fc.tuple(fc.constantFrom("", good), fc.oneof(fc.constant(""), rough)).map((parts) => parts.join(""));
  const bucket = fc.oneof(near("bucket"), fc.stringMatching(/^[a-z0-9.-]{3,20}$/));
  const region = fc.oneof(near("eu-central-1"), near("cn-north-1"));
  let accepted = 0;
  fc.assert(
    fc.property(bucket, region, (name, place) => {
      const parsed = CreateAuditLogExportDestination.safeParse({
        ...targetDestination,
        bucket: name,
        region: place,
        prefix: "",
      });
      if (!parsed.success) return;
      accepted += 1;
      const host = `s3.${place}.amazonaws.com`;
      const { url } = client.config.endpointProvider({ Bucket: name, Region: place });
      expect([`${name}.${host}`, host]).toContain(url.host.replace(/\.cn$/, ""));
      expect(url.pathname).toBe(url.host.startsWith(host) ? `/${name}` : "/");
      expect(url.search + url.hash + url.username).toBe("");
    }),
    { numRuns: 3000 },
  );
  expect(accepted).toBeGreaterThan(20);
});
