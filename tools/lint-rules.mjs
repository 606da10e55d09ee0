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

/** Calls that accept a limit: of Playwright, and of programs that a test starts. */
const limitedCalls =
  /^(?:goto|reload|go(?:Back|Forward)|waitFor\w*|(?:dbl)?click|tap|fill|type|press\w*|hover|focus|(?:un)?check|select(?:Option|Text)|setInputFiles|dragTo|(?:all)?(?:inner|text)\w+|inputValue|getAttribute|screenshot|connect(?:OverCDP)?|launch\w*|to(?:Be(?:Visible|Hidden|Attached|Enabled|Disabled|Checked|Editable|Focused)|Have(?:Text|Value|Count|URL|Title|Attribute|Class|CSS)|ContainText)|(?:exec|spawn)(?:File)?(?:Sync)?|run)$/;

/** @returns the expression without casts of types */
function withoutTypes(node) {
  return /^TS(?:As|Satisfies|NonNull|TypeAssertion)/.test(node?.type) ? withoutTypes(node.expression) : node;
}

/** @returns {boolean} whether the expression is a number that is written out, such as `5_000` or `60 * 1000` */
function isNumber(given) {
  const node = withoutTypes(given);
  if (node === undefined) return false;
  if (node.type === "BinaryExpression") return isNumber(node.left) && isNumber(node.right);
  if (node.type === "ConditionalExpression") return isNumber(node.consequent) || isNumber(node.alternate);
  if (node.type === "LogicalExpression") return isNumber(node.right);
  if (node.type === "UnaryExpression") return isNumber(node.argument);
  return node.type === "Literal" && typeof node.value === "number";
}

const isFunction = (node) => /^(?:ArrowFunction|Function)Expression$/.test(node?.type);

const nameOf = (node) => (node?.type === "Identifier" ? node.name : node?.type === "Literal" ? node.value : undefined);

/** @returns {string | undefined} `c` of `c(…)` and `a.b.c(…)` */
const lastName = (callee) => nameOf(callee.type === "MemberExpression" ? callee.property : callee);

/** @returns {string | undefined} `a` of `a(…)`, `a.each(…)`, `a.each`…`(…)` and `a.each(…)(…)`, if `isPart` allows `each` */
function rootOf(callee, isPart = () => true) {
  if (callee.type === "CallExpression") return rootOf(callee.callee, isPart);
  if (callee.type === "TaggedTemplateExpression") return rootOf(callee.tag, isPart);
  if (callee.type !== "MemberExpression") return nameOf(callee);
  return isPart(nameOf(callee.property)) ? rootOf(callee.object, isPart) : undefined;
}

const isMember = (node, object, property) =>
  node.type === "MemberExpression" && rootOf(node) === object && nameOf(node.property) === property;

const propertiesIn = (node, names) =>
  node?.type === "ObjectExpression"
    ? node.properties.filter((property) => property.type === "Property" && names.has(nameOf(property.key)))
    : [];

/** @returns the limits of `it(name, run, limit)`, `it(name, { timeout }, run)` and `beforeAll(start, limit)` */
function limitsOf(root, given) {
  const options = given.flatMap((argument) => propertiesIn(argument, limitNames));
  const last = /^(?:before|after)/.test(root) ? 1 : given[1]?.type === "ObjectExpression" ? Infinity : 2;
  return [...options, ...given.filter((argument, index) => index >= last && !isFunction(argument))];
}

/** @type {Rule} */
export const noOwnLimits = {
  meta: {
    type: "problem",
    messages: {
      poll: "Omit the options of expect.poll: all waits have one deadline. Only `message` is allowed.",
      wait: "Use eventually() or eventuallyPasses() of @shoal/testkit: all waits have one deadline.",
      limit: "Omit the limit of the test or hook: vitest.project.ts has one for all. It only ends hanging tests.",
      other:
        "Use waitLimitMs of @shoal/testkit: it only ends hanging tests. If the limit is the subject of the test, give it a name and a reason.",
      retry: "Omit `retry`: a test that fails sometimes is a bug of the test or of Shoal.",
    },
    schema: [],
  },
  create: (context) => ({
    CallExpression(node) {
      const { callee, arguments: given } = node;
      const report = (node, messageId) => context.report({ node, messageId });
      const root = rootOf(callee, (part) => modifiers.has(part));
      if (isMember(callee, "vi", "waitFor") || isMember(callee, "vi", "waitUntil")) report(callee, "wait");
      else if (isMember(callee, "expect", "poll")) {
        const options = given[1];
        const isMessage =
          options?.type === "ObjectExpression" &&
          options.properties.every((property) => nameOf(property.key) === "message");
        if (options !== undefined && !isMessage) report(options, "poll");
      } else if (isMember(callee, "vi", "setConfig")) {
        for (const limit of propertiesIn(given[0], limitNames)) report(limit, "limit");
        for (const retry of propertiesIn(given[0], new Set(["retry"]))) report(retry, "retry");
      } else if (testFunctions.has(root)) {
        for (const limit of limitsOf(root, given)) report(limit, "limit");
        for (const retry of propertiesIn(given[1], new Set(["retry"]))) report(retry, "retry");
      } else if (/AbortSignal$/.test(lastName(callee.object ?? callee)) && lastName(callee) === "timeout") {
        if (isNumber(given[0])) report(given[0], "other");
      } else if (/^setDefault(?:Navigation)?Timeout$/.test(lastName(callee))) {
        if (isNumber(given[0])) report(given[0], "other");
      } else if (limitedCalls.test(lastName(callee)))
        // Zero is a call without a limit.
        for (const limit of propertiesIn(given.at(-1), new Set(["timeout"])))
          if (isNumber(limit.value) && limit.value.value !== 0) report(limit, "other");
    },
  }),
};

const timersPath = /^(?:node:)?timers\/promises$/;

/** @returns {boolean} whether the expression is `import("node:timers/promises")`, with or without `await` */
const isTimersImport = (node) =>
  node?.type === "AwaitExpression"
    ? isTimersImport(node.argument)
    : node?.type === "ImportExpression" && timersPath.test(nameOf(node.source));

/** @returns {boolean} whether the expression is `setTimeout` or `globalThis.setTimeout` */
const isTimer = (node) =>
  nameOf(node) === "setTimeout" || (node?.type === "MemberExpression" && nameOf(node.property) === "setTimeout");

/** @returns {boolean} whether the call is `promisify(setTimeout)` */
const isPromisified = (node) =>
  node?.type === "CallExpression" && lastName(node.callee) === "promisify" && isTimer(node.arguments[0]);

const paths = (pattern, name) =>
  pattern.type === "ObjectPattern"
    ? pattern.properties.filter(({ key }) => nameOf(key) === name).map(({ value }) => nameOf(value))
    : [];

/** Functions that wait for their argument: the index of that argument for each name. Helpers have these names anywhere. */
const knownSleeps = [
  ["delay", 0],
  ["sleep", 0],
  ["waitForTimeout", 0],
];

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
    const sleeps = new Map(knownSleeps);
    /** Names of what `timers/promises` exports as a whole, of its `scheduler`, and of functions that end promises. */
    const [modules, schedulers, endings] = [new Set(), new Set(), new Set()];
    const calls = [];

    /** @returns the milliseconds that the call waits for; `undefined` if it does not wait */
    function waitOf({ callee, arguments: given }, isEnding) {
      if (callee.type === "CallExpression") return isPromisified(callee) ? given[0] : undefined;
      const name = lastName(callee);
      const object = callee.type === "MemberExpression" ? callee.object : undefined;
      if (isTimer(callee)) {
        if (isTimersImport(object) || modules.has(nameOf(object))) return given[0];
        if (sleeps.has(name) && object === undefined) return given[0];
        return isEnding(given[0]) ? given[1] : undefined;
      }
      if (name === "wait" && object !== undefined) {
        if (nameOf(object) === "Atomics") return given[3];
        return schedulers.has(nameOf(object)) || lastName(object) === "scheduler" ? given[0] : undefined;
      }
      if (object !== undefined && name !== "waitForTimeout") return undefined;
      return given[sleeps.get(name) ?? Infinity];
    }

    return {
      ImportDeclaration({ source, specifiers }) {
        for (const { imported, local } of specifiers) {
          const name = nameOf(imported);
          if (source.value === "node:timers" && name === "promises") modules.add(local.name);
          if (!timersPath.test(source.value)) continue;
          if (name === "setTimeout") sleeps.set(local.name, 0);
          else if (name === "scheduler") schedulers.add(local.name);
          else if (name === undefined || name === "default") modules.add(local.name);
        }
      },
      VariableDeclarator({ id, init }) {
        if (isPromisified(init)) sleeps.set(nameOf(id), 0);
        if (isTimersImport(init)) {
          modules.add(nameOf(id));
          for (const name of paths(id, "setTimeout")) sleeps.set(name, 0);
        }
        if (init?.type !== "CallExpression" || !isMember(init.callee, "Promise", "withResolvers")) return;
        endings.add(nameOf(id));
        for (const name of paths(id, "resolve")) endings.add(name);
      },
      CallExpression(node) {
        calls.push(node);
      },
      "Program:exit"() {
        const waits = calls.map((node) => [node, () => waitOf(node, (given) => endsPromise(node, given, endings))]);
        // A function that passes its argument on to a wait is a wait too.
        for (let known = -1; known < sleeps.size;) {
          known = sleeps.size;
          for (const [node, waitOf] of waits) {
            const [name, index] = parameterOf(node, nameOf(waitOf()));
            if (name !== undefined && !sleeps.has(name)) sleeps.set(name, index);
          }
        }
        for (const [node, waitOf] of waits)
          if (isNumber(waitOf()) || isSleepProgram(node) || isWaitForTime(node))
            context.report({ node, messageId: "sleep" });
      },
    };
  },
};

/** @returns {boolean} whether the call starts the program `sleep` and waits for its end */
function isSleepProgram({ callee, arguments: [program] }) {
  return /^(?:exec|spawn)(?:File)?Sync$/.test(lastName(callee)) && /^(?:.*\/)?sleep(?: |$)/.test(nameOf(program));
}

/** @returns {boolean} whether the call waits until the clock shows a time, such as `eventually(() => Date.now() > endMs)` */
function isWaitForTime({ callee, arguments: given }) {
  if (!/^(?:eventually(?:Passes)?|poll)$/.test(lastName(callee))) return false;
  const called = [];
  const look = (node) => {
    if (node?.type === "CallExpression" && !(nameOf(node.callee.object?.callee) === "expect")) called.push(node.callee);
    for (const [key, part] of Object.entries(node ?? {}))
      if (key !== "parent" && typeof part === "object") for (const each of [part].flat()) look(each);
  };
  look(given.find(isFunction)?.body);
  const readings = called.filter((each) => /^(?:Date|performance)$/.test(nameOf(each.object)));
  const others = called.filter((each) => !readings.includes(each) && nameOf(each) !== "expect");
  return readings.length > 0 && others.length === 0;
}

/** @returns {boolean} whether the function ends a promise: one around the call, or one of `endings` */
function endsPromise(node, given, endings) {
  const executors = [];
  for (let parent = node.parent; parent !== null; parent = parent.parent)
    if (parent.type === "NewExpression" && nameOf(parent.callee) === "Promise") executors.push(parent.arguments[0]);
  if (given?.type === "Identifier") return executors.length > 0 || endings.has(given.name);
  if (given?.type === "MemberExpression") return endings.has(nameOf(given.object));
  if (!isFunction(given)) return false;
  const statement = given.body.type === "BlockStatement" ? given.body.body.at(-1) : given.body;
  const call = statement?.type === "ExpressionStatement" ? statement.expression : statement;
  if (call?.type !== "CallExpression") return false;
  const name = call.callee.type === "MemberExpression" ? nameOf(call.callee.object) : nameOf(call.callee);
  return endings.has(name) || executors.some((executor) => nameOf(executor?.params?.[0]) === name);
}

/** @returns {[string, number] | []} the function around the call that has this parameter, and the parameter's index */
function parameterOf(node, parameter) {
  if (parameter === undefined) return [];
  for (let parent = node.parent; parent !== null; parent = parent.parent) {
    const index = (parent.params ?? []).findIndex((each) => nameOf(each) === parameter);
    if (index !== -1) return [nameOf(parent.id ?? parent.parent.id), index];
  }
  return [];
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
