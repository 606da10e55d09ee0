import { lowerLimits, resolve, shapeOf, upperLimits } from "./schema-shape.mjs";

/**
 * @typedef {import("./schema-shape.mjs").Json} Json
 * @typedef {import("./schema-shape.mjs").Shape} Shape
 * @typedef {"request" | "answer"} Direction - requests: ours must accept every request of the reference; answers: each
 * must fit the other's
 * schema, since the client reads both
 */

const maxDepth = 12;

/** Compares schemas of the reference with ours and notes each difference once. */
export class SchemaComparison {
  /** @type {string[]} */
  differences = [];
  /** Pairs of components that were compared. */
  #seen = new Set();
  #reference;
  #ours;

  /** @param {Json} reference @param {Json} ours - whole documents, for references within them */
  constructor(reference, ours) {
    this.#reference = reference;
    this.#ours = ours;
  }

  /** @param {string} where @param {string} what */
  note(where, what) {
    this.differences.push(`${where}: ${what}`);
  }

  /** @param {string} where @param {{ reference: Json, ours: Json }} nodes @param {Direction} direction */
  compare(where, { ours, reference }, direction, depth = 0) {
    if (depth > maxDepth || this.#wasSeen(reference, ours, direction)) return;
    const theirs = shapeOf(this.#reference, reference);
    let own = shapeOf(this.#ours, ours);
    if (theirs.any || (theirs.types.size === 0 && theirs.variants === undefined && theirs.enum === undefined)) return;
    if (own.any) {
      this.note(where, "ours accepts anything where the reference has a schema");
      return;
    }
    if (theirs.nullable && !own.nullable) this.note(where, "reference is nullable, ours is not");
    if (direction === "answer" && own.nullable && !theirs.nullable)
      this.note(where, "ours may be null, the reference never is");
    if (theirs.variants !== undefined) {
      this.#compareVariants(where, theirs.variants, own.variants ?? [ours], direction);
      return;
    }
    if (own.variants !== undefined && theirs.choice) own = this.#together(own.variants);
    if (own.variants !== undefined) {
      const best = Math.min(...own.variants.map((variant) => this.#distance(reference, variant, direction)));
      if (best >= 1)
        this.note(where, `ours is a union with no variant that matches (closest differs in ${Math.ceil(best)})`);
      return;
    }
    this.#compareValues(where, theirs, own, direction);
    this.#compareFields(where, theirs, own, direction, depth);
    if (theirs.items !== undefined) {
      if (own.items === undefined) this.note(`${where}[]`, "array items missing");
      else this.compare(`${where}[]`, { reference: theirs.items, ours: own.items }, direction, depth + 1);
    }
  }

  /** @param {Json} reference @param {Json} ours @param {Direction} direction */
  #wasSeen(reference, ours, direction) {
    if (reference.$ref === undefined || ours.$ref === undefined) return false;
    const key = `${reference.$ref}|${ours.$ref}|${direction}`;
    if (this.#seen.has(key)) return true;
    this.#seen.add(key);
    return false;
  }

  /** @param {string} where @param {Json[]} theirs @param {Json[]} ours @param {Direction} direction */
  #compareVariants(where, theirs, ours, direction) {
    for (const [at, variant] of theirs.entries()) {
      const best = ours.toSorted(
        (a, b) => this.#distance(variant, a, direction) - this.#distance(variant, b, direction),
      )[0];
      if (best !== undefined)
        this.compare(`${where}|${this.#labelOf(variant, at)}`, { reference: variant, ours: best }, direction, 1);
    }
  }

  /**
   * Joins our union into one object, if the reference has one object with a choice of fields. @param {Json[]} variants
   * @returns {Shape}
   */
  #together(variants) {
    const parts = variants.map((variant) => shapeOf(this.#ours, variant));
    const [first] = parts;
    if (first === undefined) throw new Error("A union has no variants.");
    return {
      ...first,
      properties: Object.assign({}, ...parts.map((part) => part.properties)),
      required: new Set([...first.required].filter((name) => parts.every((part) => part.required.has(name)))),
    };
  }

  /**
   * Counts the differences between two schemas. @param {Json} reference @param {Json} ours @param {Direction} direction
   */
  #distance(reference, ours, direction) {
    const trial = new SchemaComparison(this.#reference, this.#ours);
    trial.compare("", { reference, ours }, direction, 1);
    // A missing field weighs more than a limit.
    return trial.differences.reduce((sum, line) => sum + (line.includes(", the reference has ") ? 0.01 : 1), 0);
  }

  /** @param {Json} variant @param {number} at */
  #labelOf(variant, at) {
    const { properties = {} } = resolve(this.#reference, variant);
    const kind = Object.entries(properties).find(([, field]) => "const" in field || field.enum?.length === 1);
    if (kind !== undefined) return `${kind[0]}=${kind[1].const ?? kind[1].enum[0]}`;
    return variant.$ref?.split("/").pop() ?? `variant ${at}`;
  }

  /** @param {string} where @param {Shape} theirs @param {Shape} own @param {Direction} direction */
  #compareValues(where, theirs, own, direction) {
    for (const type of theirs.types) {
      const fits = own.types.has(type) || own.types.size === 0 || (type === "integer" && own.types.has("number"));
      if (!fits) this.note(where, `type ${type} expected, ours ${[...own.types].join("|")}`);
    }
    if (direction === "answer" && own.types.has("number") && theirs.types.has("integer"))
      this.note(where, "ours may be a fraction, the reference is an integer");
    this.#compareEnums(where, theirs.enum, own, theirs, direction);
    if (own.enum === undefined) this.#compareLimits(where, theirs.limits, own.limits, direction);
    if (own.names !== undefined)
      this.#compareLimits(`${where} keys`, theirs.names ?? {}, shapeOf(this.#ours, own.names).limits, direction);
    if (
      direction === "request" &&
      "default" in theirs.limits &&
      theirs.limits.default !== null &&
      !isEqual(theirs.limits.default, own.limits.default)
    )
      this.note(
        where,
        `default ${JSON.stringify(theirs.limits.default)} expected, ours ${JSON.stringify(own.limits.default)}`,
      );
  }

  /** @param {string} where @param {unknown[] | undefined} values @param {Shape} own @param {Shape} theirs @param {Direction} direction */
  #compareEnums(where, values, own, theirs, direction) {
    if (values === undefined) {
      if (own.enum !== undefined && direction === "request" && theirs.types.has(typeof own.enum[0]))
        this.note(where, `reference is open, ours takes only ${own.enum.join("|")}`);
      return;
    }
    if (own.enum === undefined) {
      this.note(
        where,
        direction === "request"
          ? `enum ${values.join("|")} expected, ours is open`
          : `ours may be any, the reference is one of ${values.join("|")}`,
      );
      return;
    }
    const lacks = values.filter((value) => !own.enum?.includes(value));
    if (lacks.length > 0) this.note(where, `enum lacks ${lacks.join("|")}`);
    const adds = own.enum.filter((value) => !values.includes(value));
    if (adds.length > 0 && direction === "answer")
      this.note(where, `ours may be ${adds.join("|")}, which the reference does not know`);
  }

  /** @param {string} where @param {Json} theirs @param {Json} own @param {Direction} direction */
  #compareLimits(where, theirs, own, direction) {
    for (const key of [...lowerLimits, ...upperLimits]) {
      const [their, our] = [theirs[key], own[key]];
      const isLower = lowerLimits.includes(key);
      if (
        our !== undefined &&
        !(isLower && our <= 0 && key !== "minimum") &&
        (their === undefined || (isLower ? our > their : our < their))
      )
        this.note(where, `${key} ${our}, the reference has ${their ?? "none"}`);
      // A wider limit of ours: the reference rejects these requests, and its clients may reject these answers.
      else if (their !== undefined && their !== our && !(isLower && their === 0 && key !== "minimum"))
        this.note(where, `${key} ${their} expected, ours ${our ?? "none"}`);
    }
    for (const key of ["format", "multipleOf", "uniqueItems"].filter((name) => theirs[name] !== "int64")) {
      if (own[key] !== undefined && own[key] !== theirs[key])
        this.note(where, `${key} ${own[key]}, the reference has ${theirs[key] ?? "none"}`);
      else if (direction === "answer" && theirs[key] !== undefined && own[key] === undefined)
        this.note(where, `${key} ${theirs[key]} expected, ours none`);
    }
    const [their, our] = [theirs.pattern, own.pattern].map((pattern) => pattern?.replaceAll("\\/", "/"));
    if (our !== undefined && our !== their) this.note(where, `pattern ${our}, the reference has ${their ?? "none"}`);
    else if (direction === "answer" && our === undefined && their !== undefined)
      this.note(where, `pattern ${their} expected, ours none`);
  }

  /** @param {string} where @param {Shape} theirs @param {Shape} own @param {Direction} direction @param {number} depth */
  #compareFields(where, theirs, own, direction, depth) {
    for (const [name, field] of Object.entries(theirs.properties ?? {})) {
      const ours = own.properties?.[name];
      if (ours === undefined) {
        this.note(`${where}.${name}`, "missing field");
        continue;
      }
      const [theirsNeeds, ownNeeds] = [theirs.required.has(name), own.required.has(name)];
      // Required, but with a default: both readings are right.
      const isEither = direction === "request" && theirsNeeds && "default" in shapeOf(this.#reference, field).limits;
      if (theirsNeeds && !ownNeeds && !isEither)
        this.note(`${where}.${name}`, "required in the reference, optional in ours");
      if (ownNeeds && !theirsNeeds) this.note(`${where}.${name}`, "optional in the reference, required in ours");
      this.compare(`${where}.${name}`, { reference: field, ours }, direction, depth + 1);
    }
    if (direction !== "request" || theirs.properties === undefined) return;
    for (const name of own.required)
      if (!(name in theirs.properties))
        this.note(`${where}.${name}`, "ours requires a field that the reference does not know");
  }
}

/** @param {unknown} one @param {unknown} other */
function isEqual(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
