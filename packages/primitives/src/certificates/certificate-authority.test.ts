import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type TLSSocket } from "node:tls";
import { afterEach, expect, it } from "vitest";
import { CertificateAuthority } from "./index.ts";

const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function connectTo(host: string, authority: CertificateAuthority, trusted: CertificateAuthority) {
  const server = createServer({
    SNICallback: (_name, done) => {
      done(null, authority.contextFor(host));
    },
  });
  server.on("secureConnection", (socket: TLSSocket) => socket.end("hello"));
  server.on("tlsClientError", () => undefined);
  server.setSecureContext({});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect({
    port: (server.address() as AddressInfo).port,
    host: "127.0.0.1",
    servername: "shop.example",
    ca: trusted.certificate,
  });
  closing.push(
    () => socket.destroy(),
    () => server.close(),
  );
  return new Promise<unknown>((resolve) => {
    socket.once("secureConnect", () => {
      resolve("trusted");
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code);
    });
  });
}

it("issues certificates that only clients of this authority trust, each for one host", async () => {
  const authority = new CertificateAuthority("Authority of a test");
  expect(await connectTo("shop.example", authority, authority)).toBe("trusted");
  expect(await connectTo("other.example", authority, authority)).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  // Another authority with the same name.
  expect(await connectTo("shop.example", authority, new CertificateAuthority("Authority of a test"))).toBe(
    "CERT_SIGNATURE_FAILURE",
  );
  expect(authority.contextFor("shop.example")).toBe(authority.contextFor("shop.example"));
});

it.each(["127.0.0.1", "2001:db8::1", `${"a".repeat(63)}.${"b".repeat(63)}.example`])("issues for %s", (host) => {
  expect(new CertificateAuthority("Authority of a test").contextFor(host)).toBeDefined();
});
