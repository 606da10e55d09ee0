import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A small STS for one user. It issues keys for roles with an external id. */
export interface TestSts {
  readonly url: string;
  /** Form fields of the requests. */
  readonly asked: Readonly<Record<string, string>>[];
  readonly refused: Set<string>;
  keys: {
    readonly accessKey: string;
    readonly secretKey: string;
    readonly sessionToken: string;
    readonly holdSeconds: number;
  };
  close(): Promise<void>;
}

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
const hex = (text: string) => createHash("sha256").update(text).digest("hex");

/** Verifies Signature Version 4. A separate implementation, to check the service's signer. */
export function isSigned(
  request: IncomingMessage,
  body: string,
  user: { readonly accessKey: string; readonly secretKey: string; readonly region: string; readonly service: string },
): boolean {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? "",
    );
  if (form === null) return false;
  const [, accessKey = "", day = "", region = "", service = "", names = "", signature = ""] = form;
  const at = String(request.headers["x-amz-date"]);
  if (accessKey !== user.accessKey || region !== user.region || service !== user.service || !at.startsWith(day))
    return false;
  if (!["host", "x-amz-date"].every((name) => names.split(";").includes(name))) return false;
  const headers = names
    .split(";")
    .map((name) => `${name}:${String(request.headers[name]).trim()}\n`)
    .join("");
  const canonical = [request.method, request.url, "", headers, names, hex(body)].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const key = [service, "aws4_request"].reduce<Buffer>(
    (from, text) => hmac(from, text),
    hmac(hmac(`AWS4${user.secretKey}`, day), region),
  );
  const expected = hmac(key, `AWS4-HMAC-SHA256\n${at}\n${scope}\n${hex(canonical)}`);
  return timingSafeEqual(expected, Buffer.from(signature, "hex"));
}

/** @param user - the only accepted credentials. */
export async function startTestSts(user: {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
}): Promise<TestSts> {
  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
      const form = Object.fromEntries(new URLSearchParams(body));
      sts.asked.push(form);
      const refuse = (status: number, code: string, message: string) =>
        response
          .writeHead(status, { "content-type": "text/xml" })
          .end(
            `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
          );
      if (!isSigned(request, body, { ...user, service: "sts" }))
        refuse(
          403,
          "SignatureDoesNotMatch",
          "The request signature we calculated does not match the signature you provided.",
        );
      else if (form.Action !== "AssumeRole" || form.Version !== "2011-06-15" || form.RoleSessionName === undefined)
        refuse(400, "InvalidAction", "Could not find operation");
      else if (sts.refused.has(form.RoleArn ?? "") || form.ExternalId === undefined)
        refuse(
          403,
          "AccessDenied",
          `User &quot;shoal&quot; is not authorized to perform: sts:AssumeRole on resource: ${form.RoleArn ?? ""}`,
        );
      else {
        const { accessKey, holdSeconds, secretKey, sessionToken } = sts.keys;
        const ends = new Date(Date.now() + holdSeconds * 1000).toISOString();
        response
          .writeHead(200, { "content-type": "text/xml" })
          .end(
            `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>${accessKey}</AccessKeyId><SecretAccessKey>${secretKey}</SecretAccessKey><SessionToken>${sessionToken}</SessionToken><Expiration>${ends}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
          );
      }
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sts: TestSts = {
    url: `http://127.0.0.1:${String(port)}/`,
    asked: [],
    refused: new Set(),
    keys: { accessKey: "S3RVER", secretKey: "S3RVER", sessionToken: "token/of+a=role", holdSeconds: 3600 },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return sts;
}
