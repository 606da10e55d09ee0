import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface CollectedRecord {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly scope: string;
  /** Nanoseconds since 1970. */
  readonly time: bigint;
  readonly observedTime: bigint;
  readonly severity: number;
  readonly severityText: string;
  readonly body: unknown;
  readonly eventName: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A receiver of OTLP logs over HTTP (protobuf), on the loopback interface. */
export interface TestCollector {
  readonly url: string;
  readonly port: number;
  /** Includes rejected requests. */
  readonly requests: {
    readonly url: string;
    readonly headers: IncomingHttpHeaders;
    readonly records: readonly CollectedRecord[];
  }[];
  /** Records of accepted requests. */
  readonly records: CollectedRecord[];
  /** Replaces the answer 200; `undefined` = accept. Never resolves = no answer. */
  respond: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Breaks every connection, including new ones. */
  down(): void;
  up(): void;
}

type Field = readonly [field: number, value: bigint | Buffer];

function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  function varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint());
    const field = tag >> 3;
    switch (tag & 7) {
      case 0:
        fields.push([field, varint()]);
        break;
      case 1:
        fields.push([field, bytes.subarray(at, (at += 8))]);
        break;
      case 2: {
        const length = Number(varint());
        fields.push([field, bytes.subarray(at, (at += length))]);
        break;
      }
      case 5:
        fields.push([field, bytes.subarray(at, (at += 4))]);
        break;
      default:
        throw new Error(`No wire type of protobuf: ${String(tag & 7)}`);
    }
  }
  return fields;
}

function buffers(fields: readonly Field[], wanted: number): Buffer[] {
  return fields.flatMap(([field, value]) => (field === wanted && Buffer.isBuffer(value) ? [value] : []));
}
function textOf(fields: readonly Field[], wanted: number): string {
  return buffers(fields, wanted)[0]?.toString() ?? "";
}

function valueOf(bytes: Buffer): unknown {
  const [first] = fieldsOf(bytes);
  if (first === undefined) return null;
  const [field, value] = first;
  if (!Buffer.isBuffer(value)) return field === 2 ? value === 1n : Number(BigInt.asIntN(64, value));
  if (field === 1) return value.toString();
  if (field === 4) return value.readDoubleLE();
  if (field === 5) return buffers(fieldsOf(value), 1).map(valueOf);
  if (field === 6) return attributesOf(fieldsOf(value), 1);
  return value;
}
function attributesOf(fields: readonly Field[], wanted: number): Record<string, unknown> {
  return Object.fromEntries(
    buffers(fields, wanted).map((pair) => {
      const parts = fieldsOf(pair);
      return [textOf(parts, 1), valueOf(buffers(parts, 2)[0] ?? Buffer.alloc(0))];
    }),
  );
}

export function decodeLogs(body: Buffer): CollectedRecord[] {
  return buffers(fieldsOf(body), 1).flatMap((resourceLogs) => {
    const parts = fieldsOf(resourceLogs);
    const resource = attributesOf(fieldsOf(buffers(parts, 1)[0] ?? Buffer.alloc(0)), 1);
    return buffers(parts, 2).flatMap((scopeLogs) => {
      const inner = fieldsOf(scopeLogs);
      const scope = textOf(fieldsOf(buffers(inner, 1)[0] ?? Buffer.alloc(0)), 1);
      return buffers(inner, 2).map((record): CollectedRecord => {
        const fields = fieldsOf(record);
        const body = buffers(fields, 5)[0];
        return {
          resource,
          scope,
          time: buffers(fields, 1)[0]?.readBigUInt64LE() ?? 0n,
          observedTime: buffers(fields, 11)[0]?.readBigUInt64LE() ?? 0n,
          severity: Number(fields.find(([field]) => field === 2)?.[1] ?? 0),
          severityText: textOf(fields, 3),
          body: body && valueOf(body),
          eventName: textOf(fields, 12),
          attributes: attributesOf(fields, 6),
        };
      });
    });
  });
}

export async function startCollector(): Promise<TestCollector> {
  let isDown = false;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const records = decodeLogs(Buffer.concat(chunks));
    collector.requests.push({ url: `${request.method ?? ""} ${request.url ?? ""}`, headers: request.headers, records });
    if (!collector.respond(request, response)) return;
    collector.records.push(...records);
    if (!response.headersSent) response.writeHead(200, { "content-type": "application/x-protobuf" });
    response.end();
  }

  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  // Keep listening: another program might get a closed port.
  server.on("connection", (socket) => {
    if (isDown) socket.resetAndDestroy();
  });
  server.unref();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;

  const collector = {
    requests: [] as TestCollector["requests"][number][],
    records: [] as CollectedRecord[],
    respond: () => true,
    port,
    url: `http://127.0.0.1:${String(port)}`,
    down() {
      isDown = true;
      server.closeAllConnections();
    },
    up() {
      isDown = false;
    },
  } satisfies TestCollector as TestCollector;
  return collector;
}
