import { SchemaComparison } from "./schema-comparison.mjs";
import { resolve } from "./schema-shape.mjs";

/** @typedef {import("./schema-shape.mjs").Json} Json */

const methods = ["get", "post", "put", "patch", "delete"];
const structured = ["application/json", "multipart/form-data", "text/event-stream"];

/**
 * Compares every operation of the reference with ours. Operations, optional fields, statuses and headers that ours adds are allowed.
 * @param {Json} reference @param {Json} ours
 * @returns {{ wanted: number, found: number, differences: string[] }}
 */
export function compareDocuments(reference, ours) {
  const comparison = new OperationComparison(reference, ours);
  const ownPaths = new Map(Object.entries(ours.paths).map(([path, item]) => [withoutNames(path), item]));
  let [wanted, found] = [0, 0];
  for (const [path, item] of Object.entries(reference.paths))
    for (const method of methods) {
      const theirs = item[method];
      if (theirs === undefined) continue;
      wanted++;
      const own = ownPaths.get(withoutNames(path))?.[method];
      const at = `${method.toUpperCase()} ${path}`;
      if (own === undefined) {
        comparison.schemas.note(at, "operation missing");
        continue;
      }
      found++;
      comparison.compareParameters(
        at,
        [...(item.parameters ?? []), ...(theirs.parameters ?? [])],
        own.parameters ?? [],
      );
      comparison.compareBody(at, theirs.requestBody, own.requestBody);
      comparison.compareAnswers(at, theirs.responses, own.responses);
    }
  return { wanted, found, differences: comparison.schemas.differences };
}

class OperationComparison {
  #reference;
  #ours;

  /** @param {Json} reference @param {Json} ours */
  constructor(reference, ours) {
    this.#reference = reference;
    this.#ours = ours;
    this.schemas = new SchemaComparison(reference, ours);
  }

  /** @param {string} at @param {Json[]} theirs @param {Json[]} own */
  compareParameters(at, theirs, own) {
    const ours = own.map((parameter) => resolve(this.#ours, parameter));
    const ownOfPath = ours.filter((parameter) => parameter.in === "path");
    for (const parameter of theirs.map((given) => resolve(this.#reference, given))) {
      const { in: place, name } = parameter;
      const where = `${at} ${place} ${name}`;
      // Names of path parameters are free; their order is not.
      const same =
        place === "path" ? ownOfPath.shift() : ours.find((other) => other.in === place && isSameName(other.name, name));
      if (same === undefined) {
        if (place !== "header") this.schemas.note(where, "parameter missing");
        continue;
      }
      if ((parameter.required === true) !== (same.required === true))
        this.schemas.note(
          where,
          parameter.required === true ? "required in the reference" : "optional in the reference, required in ours",
        );
      this.schemas.compare(where, { reference: parameter.schema ?? {}, ours: same.schema ?? {} }, "request");
    }
  }

  /** @param {string} at @param {Json | undefined} given @param {Json | undefined} own */
  compareBody(at, given, own) {
    if (given === undefined) return;
    if (own === undefined) {
      this.schemas.note(at, "request body missing");
      return;
    }
    const [theirs, ours] = [resolve(this.#reference, given), resolve(this.#ours, own)];
    if (theirs.required !== true && ours.required === true)
      this.schemas.note(at, "request body is optional in the reference, required in ours");
    this.#compareContent(
      { at: `${at} body`, missing: `${at}: request content type` },
      theirs.content,
      ours.content,
      "request",
    );
  }

  /** @param {string} at @param {Json} given @param {Json} own */
  compareAnswers(at, given, own) {
    for (const [status, answer] of Object.entries(given)) {
      if (own[status] === undefined) {
        this.schemas.note(at, `response ${status} missing`);
        continue;
      }
      const [theirs, ours] = [resolve(this.#reference, answer), resolve(this.#ours, own[status])];
      const headers = Object.keys(ours.headers ?? {});
      for (const name of Object.keys(theirs.headers ?? {}))
        if (!headers.some((other) => isSameName(other, name)))
          this.schemas.note(`${at} ${status}`, `response header ${name} missing`);
      this.#compareContent(
        { at: `${at} ${status}`, missing: `${at} ${status}: content type` },
        theirs.content,
        ours.content,
        "answer",
      );
    }
  }

  /** @param {{ at: string, missing: string }} where @param {Json | undefined} theirs @param {Json | undefined} own @param {"request" | "answer"} direction */
  #compareContent(where, theirs, own, direction) {
    for (const [type, { schema = {} }] of Object.entries(theirs ?? {})) {
      // Bytes may have a more exact type in ours.
      const ours = own?.[type] ?? (structured.includes(type) ? undefined : Object.values(own ?? {})[0]);
      if (ours === undefined) this.schemas.differences.push(`${where.missing} ${type} missing`);
      else if (structured.includes(type))
        this.schemas.compare(where.at, { reference: schema, ours: ours.schema ?? {} }, direction);
    }
  }
}

/** @param {string} path */
function withoutNames(path) {
  return path.replaceAll(/\{[^}]+\}/g, "{}");
}

/** @param {string} one @param {string} other */
function isSameName(one, other) {
  return one.toLowerCase() === other.toLowerCase();
}
