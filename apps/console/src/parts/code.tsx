import { ActionIcon, Box, CopyButton } from "@mantine/core";
import { Check, Copy } from "lucide-react";
import { breakable } from "../base/breakable.tsx";
import styles from "./code.module.css";

export function CopyIcon({ value, label }: { readonly value: string; readonly label: string }) {
  return (
    <CopyButton value={value} timeout={1500}>
      {({ copied, copy }) => (
        <ActionIcon
          variant="subtle"
          color={copied ? "teal" : "gray"}
          onClick={copy}
          aria-label={label}
          title={copied ? "Copied" : label}
        >
          {copied ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
        </ActionIcon>
      )}
    </CopyButton>
  );
}

/** An identifier to copy. */
export function IdText({ id, label = "Copy the id" }: { readonly id: string; readonly label?: string }) {
  return (
    <span className={styles.id}>
      {id}
      <CopyIcon value={id} label={label} />
    </span>
  );
}

/** Shorter calls fit in a line of a phone. */
const longCode = 30;

const word = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(\/\/.*|#.*)|\b(await|const|import|from|using|new|for|of)\b/g;

/** Marks strings, comments and keywords; enough for the short programs of this page. */
function colored(line: string) {
  const parts: { readonly text: string; readonly kind?: string | undefined }[] = [];
  let end = 0;
  for (const match of line.matchAll(word)) {
    const [text, string, comment] = match;
    parts.push({ text: line.slice(end, match.index) });
    parts.push({
      text,
      kind: string !== undefined ? styles.string : comment !== undefined ? styles.comment : styles.keyword,
    });
    end = match.index + text.length;
  }
  return [...parts, { text: line.slice(end) }];
}

/** A program to copy. */
export function CodeBlock({ code, label }: { readonly code: string; readonly label: string }) {
  return (
    <Box className={styles.frame}>
      <pre className={styles.code} tabIndex={0} role="group" aria-label={label}>
        {code.split("\n").map((line, number) => (
          <code key={number} className={styles.line}>
            {colored(line).map(({ text, kind }, index) => (
              <span key={index} className={kind}>
                {kind === styles.string && <wbr />}
                {breakable(text, longCode)}
              </span>
            ))}
            {"\n"}
          </code>
        ))}
      </pre>
      <div className={styles.copy}>
        <CopyIcon value={code} label="Copy the code" />
      </div>
    </Box>
  );
}
