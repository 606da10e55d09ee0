// Answers names of services with their addresses, in a pod of the node: name-server.ts
import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";

interface Service {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly clusterIP?: string };
}

const port = 5353;
const typeA = 1;
const headerBytes = 12;
const token = "/var/run/secrets/kubernetes.io/serviceaccount/token";
const socket = createSocket("udp4");

async function addressOf(name: string): Promise<string | undefined> {
  const [, service, namespace] = /^([^.]+)\.([^.]+)\.svc\.cluster\.local$/.exec(name) ?? [];
  if (service === undefined) return undefined;
  const headers = { authorization: `Bearer ${readFileSync(token, "utf8")}` };
  const answer = await fetch(`https://${process.env.KUBERNETES_SERVICE_HOST ?? ""}/api/v1/services`, { headers });
  const { items } = (await answer.json()) as { readonly items: readonly Service[] };
  const found = items.find(({ metadata }) => metadata.name === service && metadata.namespace === namespace);
  return found?.spec.clusterIP === "None" ? undefined : found?.spec.clusterIP;
}

async function answerTo(query: Buffer): Promise<Buffer> {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1);
  const question = query.subarray(headerBytes, at + 5);
  const address = await addressOf(labels.join(".").toLowerCase());
  const answers = address === undefined || type !== typeA ? [] : [address];
  const header = Buffer.alloc(headerBytes);
  query.copy(header, 0, 0, 2);
  // An authoritative answer, or NXDOMAIN.
  header.writeUInt16BE(address === undefined ? 0x85_83 : 0x85_80, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  // The name of the question, type A, class IN, five seconds, four bytes.
  const records = answers.map((ip) =>
    Buffer.from([0xc0, headerBytes, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, ...ip.split(".").map(Number)]),
  );
  return Buffer.concat([header, question, ...records]);
}

socket.on("message", (query, { address, port }) => {
  answerTo(query).then(
    (answer) => {
      socket.send(answer, port, address);
    },
    (error: unknown) => {
      console.error(String(error));
    },
  );
});
socket.bind(port);
