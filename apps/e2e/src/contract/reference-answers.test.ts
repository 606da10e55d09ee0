import { ApiError, Shoal } from "@shoal/client";
import { contract, type Endpoint } from "@shoal/contract";
import type { EventStream } from "@shoal/transport";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ReferenceAnswer,
  type ReferenceOperation,
  referenceOperations,
} from "../testing/reference/reference-document.ts";
import { type MockAnswer, ReferenceMock } from "../testing/reference/reference-mock.ts";
import {
  type Choices,
  everyVariantOf,
  fullest,
  least,
  randomly,
  valueOf,
} from "../testing/reference/reference-values.ts";
import { rounds, seeded } from "../testing/seeded.ts";

/** Number of random answers to each operation. */
const randomAnswers = 10 * rounds;
const operations = referenceOperations();
const endpoints = Object.values<Endpoint>(contract);
const withoutNames = (path: string) => path.replaceAll(/\{\w+\}/g, "{}");

function endpointOf({ method, path }: ReferenceOperation): Endpoint {
  const found = endpoints.find(
    (endpoint) => endpoint.method === method && withoutNames(endpoint.path) === withoutNames(path),
  );
  if (found === undefined) throw new Error(`The contract has no ${method} ${path}.`);
  return found;
}

/** The arguments of a client method from its parameters: identifiers, body, query. */
function argumentsFor({ body, path, query }: ReferenceOperation, endpoint: Endpoint, choices: Choices): unknown[] {
  const ids = [...path.matchAll(/\{\w+\}/g)].map(() => "an-id");
  const parameters = query.filter(({ required }) => required === true || choices.isPresent());
  return [
    ...ids,
    ...(endpoint.body === undefined ? [] : [bodyFor(body, choices)]),
    ...(endpoint.query === undefined
      ? []
      : [Object.fromEntries(parameters.map(({ name, schema }) => [name, valueOf(schema, choices)]))]),
  ];
}

function bodyFor(content: ReferenceOperation["body"], choices: Choices): unknown {
  const [mediaType, media] = Object.entries(content ?? {})[0] ?? [];
  if (media === undefined) return {};
  if (mediaType === "application/octet-stream") return "content";
  const value = valueOf(media.schema, choices);
  return mediaType === "multipart/form-data" ? withFiles(value) : value;
}

/** Replaces the strings of binary fields by files. */
function withFiles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withFiles);
  if (typeof value !== "object" || value === null) return value;
  const isFile = (name: string) => name === "file" || name === "zip_file";
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, isFile(name) ? new File(["PK"], "a.zip") : withFiles(field)]),
  );
}

/** Final answers. An empty 2xx next to one with a body means "not yet"; the client's own tests cover it. */
function answersOf(operation: ReferenceOperation, choices: Choices): MockAnswer[] {
  const withBody = operation.answers.filter(({ content }) => Object.keys(content).length > 0);
  return (withBody.length > 0 ? withBody : operation.answers).flatMap((answer) => variantsOf(answer, choices));
}

function variantsOf({ content, status }: ReferenceAnswer, choices: Choices): MockAnswer[] {
  const media = Object.entries(content)[0];
  if (media === undefined) return [{ status, mediaType: undefined, values: [] }];
  const [mediaType, { schema }] = media;
  if (mediaType === "application/json")
    return everyVariantOf(schema, choices).map((value) => ({ status, mediaType, values: [value] }));
  return [{ status, mediaType, values: mediaType === "text/event-stream" ? everyVariantOf(schema, choices) : [] }];
}

/** Reads a result to its end; of a stream, which resumes after a break, the given number of events. */
async function settle(result: unknown, events: number): Promise<unknown> {
  if (typeof result === "object" && result !== null && "next" in result) {
    const stream = result as EventStream<unknown>;
    for (let read = 0; read < events; read++) await stream.next();
    return stream.return();
  }
  const value: unknown = await result;
  return typeof value === "object" && value !== null && "stream" in value
    ? new Response(value.stream as ReadableStream).text()
    : value;
}

describe("answers of the wire reference", () => {
  const mock = new ReferenceMock(operations);
  let shoal: Shoal;
  beforeAll(async () => {
    shoal = new Shoal({ apiKey: "sk_secret_0123456789", baseUrl: await mock.listen(), direct: false, maxRetries: 0 });
  });
  afterAll(() => mock[Symbol.asyncDispose]());

  /** Calls an operation's method. @throws the method's error, and if the request reached another operation. */
  async function call(operation: ReferenceOperation, answer: MockAnswer, choices: Choices): Promise<void> {
    const endpoint = endpointOf(operation);
    const path = endpoint.operationId.split(".");
    const name = path.pop() ?? "";
    const resource = path.reduce<unknown>((at, part) => Reflect.get(at as object, part), shoal);
    const method = Reflect.get(resource as object, name) as (...given: unknown[]) => unknown;
    mock.answerWith(answer);
    await settle(method.apply(resource, argumentsFor(operation, endpoint, choices)), Math.max(1, answer.values.length));
    if (mock.received?.path !== operation.path)
      throw new Error(`The request reached ${mock.received?.path ?? "no operation"}.`);
  }

  const describeIn = (error: unknown, answer: MockAnswer) =>
    `${String(error)} in ${JSON.stringify(answer).slice(0, 1000)}`;

  const table = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);
  it.each(table)("%s: the client accepts the smallest, the fullest and random answers", async (title, operation) => {
    const next = seeded(title);
    const problems = new Set<string>();
    for (const choices of [least, fullest, ...Array.from({ length: randomAnswers }, () => randomly(next))])
      for (const answer of answersOf(operation, choices)) {
        await call(operation, answer, choices).catch((error: unknown) => problems.add(describeIn(error, answer)));
      }
    expect([...problems]).toEqual([]);
  });

  it.each(table)("%s: every error answer becomes an ApiError with its status", async (title, operation) => {
    const problems = new Set<string>();
    for (const choices of [least, randomly(seeded(title))])
      for (const answer of operation.errors.flatMap((error) => variantsOf(error, choices))) {
        const error: unknown = await call(operation, answer, choices).then(
          () => "no error",
          (reason: unknown) => reason,
        );
        if (!ApiError.isInstance(error) || error.status !== answer.status) problems.add(describeIn(error, answer));
      }
    expect([...problems]).toEqual([]);
  });
});
