import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import json from "highlight.js/lib/languages/json";
import nginx from "highlight.js/lib/languages/nginx";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { escapeHtml } from "./escape-html.ts";

const languages = { bash, json, nginx, python, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);
const names: Readonly<Record<string, keyof typeof languages>> = {
  console: "bash",
  html: "xml",
  json: "json",
  nginx: "nginx",
  py: "python",
  python: "python",
  sh: "bash",
  ts: "typescript",
  yaml: "yaml",
};

/** Marks the parts of code with classes, because the policy of the site blocks styles in attributes. */
export function highlight(code: string, language: string): string {
  const name = names[language];
  return name === undefined ? escapeHtml(code) : highlighter.highlight(code, { language: name }).value;
}
