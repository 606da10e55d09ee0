import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "vitest";

export interface Bucket {
  /** Flags of a service that exports its audit log to this bucket. Call it inside `useService`. */
  flags(): string[];
  /** Paths without query, and the bytes of each object. */
  readonly objects: ReadonlyMap<string, Buffer>;
}

/** A substitute of AWS that accepts every role and object without checking signatures; the server's own tests check them. */
export function useBucket(): Bucket {
  const objects = new Map<string, Buffer>();
  const aws = createServer((request, response) => {
    void request.toArray().then((chunks: Buffer[]) => {
      if (request.method !== "PUT") return response.end(assumedRole());
      // The query only names the operation, for logs of the store.
      objects.set((request.url ?? "").split("?", 1)[0] ?? "", Buffer.concat(chunks));
      return response.end();
    });
  });
  let url = "";
  beforeAll(async () => {
    await once(aws.listen(0, "127.0.0.1"), "listening");
    // The address of a listening TCP server.
    url = `http://127.0.0.1:${String((aws.address() as AddressInfo).port)}`;
  });
  afterAll(() => {
    aws.close();
    aws.closeAllConnections();
  });
  const flags = () => [
    "--audit-export-identity",
    "aws://AKIA1:secret@eu-central-1",
    "--audit-export-role-arn",
    "arn:aws:iam::210987654321:user/shoal",
    "--audit-export-sts-url",
    url,
    "--audit-export-s3-url",
    url,
    "--audit-export-seconds",
    "1",
  ];
  return { flags, objects };
}

const assumedRole = () =>
  `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>k</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`;
