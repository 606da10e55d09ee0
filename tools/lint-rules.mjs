import { analyse } from "scslre";

// Lint rules of this repository. In tests, short limits fail on busy machines, and sleeps are either too short or a waste of time.

/** @typedef {Parameters<import("oxlint/plugins-dev").RuleTester["run"]>[1]} Rule */

const testFunctions = new Set([
  ...["it", "test", "describe", "suite", "bench"],
  ...["beforeAll", "afterAll", "beforeEach", "afterEach"],
]);
const modifiers = new Set([
  ...["each", "for", "only", "skip", "skipIf", "runIf", "todo", "fails"],
  ...["concurrent", "sequential", "extend", "shuffle"],
]);
const limitNames = new Set(["timeout", "testTimeout", "hookTimeout", "interval"]);

/** @returns {boolean} whether the expression is a number that is written out, such as `5_000` or `60 * 1000` */
function isNumber(node) {
  if (node === undefined) return false;
  if (node.type === "BinaryExpression") return isNumber(node.left) && isNumber(node.right);
  return node.type === "Literal" && typeof node.value === "number";
}

const nameOf = (node) => (node?.type === "Identifier" ? node.name : node?.type === "Literal" ? node.value : undefined);

/** @returns {string | undefined} `a` of `a(…)`, `a.each(…)`, `a.each`…`(…)` and `a.each(…)(…)`, if `isPart` allows `each` */
function rootOf(callee, isPart = () => true) {
  if (callee.type === "CallExpression") return rootOf(callee.callee, isPart);
  if (callee.type === "TaggedTemplateExpression") return rootOf(callee.tag, isPart);
  if (callee.type !== "MemberExpression") return nameOf(callee);
  return isPart(nameOf(callee.property)) ? rootOf(callee.object, isPart) : undefined;
}

const isMember = (node, object, property) =>
  node.type === "MemberExpression" && rootOf(node) === object && nameOf(node.property) === property;

const limitsIn = (node) =>
  node?.type === "ObjectExpression"
    ? node.properties.filter((property) => property.type === "Property" && limitNames.has(nameOf(property.key)))
    : [];

/** @type {Rule} */
export const noOwnLimits = {
  meta: {
    type: "problem",
    messages: {
      poll: "Omit the options of expect.poll: all waits have one deadline. Only `message` is allowed.",
      wait: "Use eventually() or eventuallyPasses() of @shoal/testkit: all waits have one deadline.",
      limit: "Omit the limit of the test or hook: vitest.project.ts has one for all. It only ends hanging tests.",
    },
    schema: [],
  },
  create: (context) => ({
    CallExpression(node) {
      const { callee, arguments: given } = node;
      if (isMember(callee, "vi", "waitFor") || isMember(callee, "vi", "waitUntil"))
        context.report({ node: callee, messageId: "wait" });
      else if (isMember(callee, "expect", "poll")) {
        const options = given[1];
        const isMessage =
          options?.type === "ObjectExpression" &&
          options.properties.every((property) => nameOf(property.key) === "message");
        if (options !== undefined && !isMessage) context.report({ node: options, messageId: "poll" });
      } else if (isMember(callee, "vi", "setConfig")) {
        for (const limit of limitsIn(given[0])) context.report({ node: limit, messageId: "limit" });
      } else if (testFunctions.has(rootOf(callee, (part) => modifiers.has(part)))) {
        for (const argument of given) {
          if (argument !== given[0] && isNumber(argument)) context.report({ node: argument, messageId: "limit" });
          for (const limit of limitsIn(argument)) context.report({ node: limit, messageId: "limit" });
        }
      }
    },
  }),
};

/** @type {Rule} */
export const noSleeps = {
  meta: {
    type: "problem",
    messages: {
      sleep:
        "Wait for a condition with eventually() of @shoal/testkit. If real time is the subject of the test, give it a name and a reason: `const leaseMs = 2_000; // why`.",
    },
    schema: [],
  },
  create(context) {
    const sleeps = new Set();
    return {
      ImportDeclaration(node) {
        if (!/^(node:)?timers\/promises$/.test(node.source.value)) return;
        for (const specifier of node.specifiers)
          if (nameOf(specifier.imported) === "setTimeout") sleeps.add(specifier.local.name);
      },
      CallExpression(node) {
        const { callee, arguments: given } = node;
        const isSleep = callee.type === "Identifier" && sleeps.has(callee.name);
        const number = isSleep ? given[0] : isPromiseTimer(node) ? given[1] : undefined;
        if (isNumber(number)) context.report({ node, messageId: "sleep" });
      },
    };
  },
};

/** @returns {boolean} whether the call is `setTimeout(resolve, …)`, where `resolve` ends a promise around it */
function isPromiseTimer(node) {
  if (nameOf(node.callee) !== "setTimeout" || node.arguments[0]?.type !== "Identifier") return false;
  for (let parent = node.parent; parent !== null; parent = parent.parent)
    if (parent.type === "NewExpression" && nameOf(parent.callee) === "Promise") return true;
  return false;
}

/** @type {Rule} */
export const pureZod = {
  meta: {
    type: "problem",
    messages: { named: "Write `import * as z`: the named export defeats tree-shaking." },
    schema: [],
  },
  create: (context) => ({
    ImportDeclaration(node) {
      if (!/^zod(\/|$)/.test(node.source.value)) return;
      for (const specifier of node.specifiers)
        if (specifier.type === "ImportDefaultSpecifier" || nameOf(specifier.imported) === "z")
          context.report({ node: specifier, messageId: "named" });
    },
  }),
};

/** @returns {{ source: string, flags: string } | undefined} the pattern of `/a/u`, `new RegExp("a", "u")` or `RegExp(String.raw…)` */
function patternOf(node) {
  if (node.type === "Literal") return node.regex && { source: node.regex.pattern, flags: node.regex.flags };
  if (nameOf(node.callee) !== "RegExp") return undefined;
  const [source, flags] = node.arguments;
  const text = (part) => {
    if (part?.type === "Literal" && typeof part.value === "string") return part.value;
    const template = part?.type === "TaggedTemplateExpression" ? part.quasi : part;
    if (template?.type !== "TemplateLiteral" || template.expressions.length > 0) return undefined;
    return template === part ? template.quasis[0].value.cooked : template.quasis[0].value.raw;
  };
  const written = text(source);
  return written === undefined ? undefined : { source: written, flags: text(flags) ?? "" };
}

/** @type {Rule} */
export const noSlowPatterns = {
  meta: {
    type: "problem",
    messages: {
      slow: "The time of this pattern grows {{growth}} with a text of many {{character}}. Anchor it, exclude the character, or use string methods; for a text of at most 256 characters, disable this rule with the bound as the reason.",
    },
    schema: [],
  },
  create(context) {
    const check = (node) => {
      const pattern = patternOf(node);
      if (pattern === undefined || !/[*+]|,\}/.test(pattern.source)) return;
      const [report] = analyse(pattern, { maxReports: 1 }).reports;
      if (report === undefined) return;
      const data = {
        character: JSON.stringify(report.character.pick),
        growth: report.exponential ? "exponentially" : "with its square",
      };
      context.report({ node, messageId: "slow", data });
    };
    return { Literal: check, NewExpression: check, CallExpression: check };
  },
};

/** @type {{ meta: { name: string }, rules: Record<string, Rule> }} */
const plugin = {
  meta: { name: "shoal" },
  rules: {
    "no-own-limits": noOwnLimits,
    "no-slow-patterns": noSlowPatterns,
    "no-sleeps": noSleeps,
    "pure-zod": pureZod,
  },
};
export default plugin;
