import { SignatureV4 } from "@smithy/signature-v4";
import { createHash, createHmac } from "node:crypto";
import { AwsFailure } from "./aws-failure.ts";

/** Keys that sign requests. */
export interface AwsKeys {
  readonly accessKey: string;
  readonly secretKey: string;
  /** Goes with keys that were given for a time. */
  readonly sessionToken?: string;
}

/** A request of one of AWS's services, or one that speaks as it does. */
export interface AwsRequest {
  readonly service: "s3" | "sts";
  readonly region: string;
  readonly method: "PUT" | "POST";
  /** Its path is percent-encoded as S3 does it. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** What a service answered. */
export interface AwsAnswer {
  readonly status: number;
  /** At most 64 KiB of it. */
  readonly text: string;
}

type Source = string | ArrayBuffer | ArrayBufferView;

function bytesOf(data: Source): Uint8Array {
  if (typeof data === "string") return Buffer.from(data);
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
}

interface Digester {
  update(data: Uint8Array): unknown;
  digest(): Uint8Array;
}

/** Node's own SHA-256, as the signer wants it. */
class Sha256 {
  readonly #secret: Source | undefined;
  #hash: Digester;

  constructor(secret?: Source) {
    this.#secret = secret;
    this.#hash = this.#begin();
  }

  #begin(): Digester {
    return this.#secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(this.#secret));
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {
    this.#hash = this.#begin();
  }
}

const maxAnswerBytes = 65_536;

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxAnswerBytes) break;
  }
  return Buffer.concat(chunks).toString("utf8", 0, maxAnswerBytes);
}

const entities: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&" };

/** The text of the first element of that name in an XML document. */
export function elementIn(xml: string, name: string): string | undefined {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? [];
  return text?.replaceAll(/&(?:lt|gt|quot|apos|amp);/g, (entity) => entities[entity] ?? entity);
}

/** For people, one line. */
function clean(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, 500);
}

function describe(error: unknown): string {
  // Undici's own message is the same for all that happens to connections.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}

/**
 * Signs a request (Signature Version 4) and sends it.
 *
 * @throws {AwsFailure} when there is no answer in time, or one that is no success.
 */
export async function sendSigned(request: AwsRequest, keys: AwsKeys): Promise<AwsAnswer> {
  const { body, headers, method, region, service, signal, timeoutMs, url } = request;
  const signer = new SignatureV4({
    service,
    region,
    credentials: {
      accessKeyId: keys.accessKey,
      secretAccessKey: keys.secretKey,
      ...(keys.sessionToken !== undefined && { sessionToken: keys.sessionToken }),
    },
    sha256: Sha256,
    // S3 alone takes the path as it is sent.
    uriEscapePath: service !== "s3",
  });
  const { headers: signed } = await signer.sign({
    method,
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: {},
    headers: { host: url.host, ...headers },
    body,
  });
  const who = service === "s3" ? "The store" : "AWS STS";
  let answer: AwsAnswer;
  try {
    const { host: _host, ...sent } = signed;
    // Elsewhere the signature would not hold, and only this host was chosen by the operator or by rule.
    const response = await fetch(url, {
      method,
      headers: sent,
      body: new Uint8Array(body),
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    answer = { status: response.status, text: await textOf(response) };
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof Error && error.name === "TimeoutError" ? `no answer within ${String(timeoutMs / 1000)} s` : describe(error);
    throw new AwsFailure(`${who} at ${url.host} could not be reached: ${clean(why)}.`, { cause: error });
  }
  if (answer.status >= 200 && answer.status < 300) return answer;
  const code = elementIn(answer.text, "Code");
  const message = elementIn(answer.text, "Message") ?? "";
  throw new AwsFailure(
    clean(`${who} answered ${String(answer.status)}${code === undefined ? "" : ` ${code}`}${message === "" ? "." : `: ${message}`}`),
    { status: answer.status },
  );
}
