import { contract, type Endpoint } from "@shoal/contract";
import { errorCodes } from "@shoal/schemas";
import document from "@shoal/contract/openapi.json" with { type: "json" };
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";

export interface SeenAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly contentType: string;
  /** Body of a JSON answer. */
  readonly text: string;
}

interface Route {
  readonly endpoint: Endpoint;
  readonly pattern: RegExp;
}

/** Errors answered before the operation is known. */
const beforeOperation: ReadonlySet<number> = new Set([405, 417, 431]);

/** Compares answers with openapi.json: the documented statuses, the body's schema, and the codes of the status. */
export class AnswerChecker {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #routes: readonly Route[] = Object.values<Endpoint>(contract)
    .map((endpoint) => ({ endpoint, pattern: patternOf(endpoint.path) }))
    // `/browser_pools/settings` before `/browser_pools/{id}`.
    .toSorted((a, b) => placeholders(a.endpoint) - placeholders(b.endpoint));

  constructor() {
    formats.default(this.#ajv);
    this.#ajv.addSchema(document, "openapi.json");
  }

  /** The problem of an answer; `undefined` if it fits or belongs to no operation. */
  problemOf(answer: SeenAnswer): string | undefined {
    const { method, path, status } = answer;
    const endpoint = this.#routes.find(
      (route) => route.endpoint.method === method && route.pattern.test(path),
    )?.endpoint;
    if (endpoint === undefined || beforeOperation.has(status)) return undefined;
    const problem = this.#problemWith(endpoint, answer);
    return problem === undefined
      ? undefined
      : `${endpoint.operationId} (${method} ${path}) answered ${String(status)}: ${problem}`;
  }

  #problemWith(endpoint: Endpoint, { contentType, status, text }: SeenAnswer): string | undefined {
    const response = resolve(["paths", endpoint.path, endpoint.method.toLowerCase(), "responses", String(status)]);
    if (response === undefined) return `openapi.json does not document this status. The body is ${text.slice(0, 300)}`;
    const media = contentType.split(";", 1)[0] ?? "";
    const { content } = response.node as { content?: Readonly<Record<string, unknown>> };
    const ranges = [media, `${media.split("/", 1)[0] ?? ""}/*`];
    if (content === undefined || !ranges.some((range) => Object.hasOwn(content, range)))
      return text === "" && content === undefined
        ? undefined
        : `openapi.json does not document content of type ${media}`;
    if (media !== "application/json") return undefined;
    const value: unknown = JSON.parse(text);
    const validate = this.#validator([...response.path, "content", media, "schema"]);
    if (!validate(value)) return `${this.#ajv.errorsText(validate.errors)} in ${text.slice(0, 500)}`;
    return status >= 400 ? codeProblem(value) : undefined;
  }

  #validator(path: readonly string[]): ValidateFunction {
    const pointer = path.map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
    const known = this.#validators.get(pointer);
    if (known !== undefined) return known;
    const made = this.#ajv.compile({ $ref: `openapi.json#/${pointer}` });
    this.#validators.set(pointer, made);
    return made;
  }
}

function codeProblem(body: unknown): string | undefined {
  const { code } = body as { code: string };
  return (errorCodes as readonly string[]).includes(code) ? undefined : `${code} is not a code of the service`;
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(".", String.raw`\.`).replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}

function placeholders({ path }: Endpoint): number {
  return path.split("{").length - 1;
}

/** A node of the document, through one reference. */
function resolve(path: readonly string[]): { readonly node: object; readonly path: readonly string[] } | undefined {
  let node: unknown = document;
  for (const step of path)
    node = typeof node === "object" && node !== null && Object.hasOwn(node, step) ? Reflect.get(node, step) : undefined;
  if (typeof node !== "object" || node === null) return undefined;
  const { $ref } = node as { $ref?: string };
  return $ref === undefined ? { node, path } : resolve($ref.slice("#/".length).split("/"));
}
