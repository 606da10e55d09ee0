import { SegmentedControl, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { cliProgram, curlProgram, type Programs, sdkProgram } from "../base/programs.ts";
import { CodeBlock } from "./code.tsx";
import { Section } from "./detail/section.tsx";

const languages = {
  sdk: { label: "TypeScript", program: sdkProgram },
  cli: { label: "Command line", program: cliProgram },
  curl: { label: "curl", program: curlProgram },
} as const;
type Language = keyof typeof languages;

const options = Object.entries(languages).map(([value, { label }]) => ({ value, label }));

/** What the page does, from a program. */
export function ProgramCard({ programs }: { readonly programs: Programs }) {
  const [language, setLanguage] = useState<Language>("sdk");
  const { label, program } = languages[language];
  return (
    <Section title="The same from a program">
      <Stack gap="sm">
        <SegmentedControl
          data={options}
          value={language}
          onChange={(value) => {
            if (value in languages) setLanguage(value as Language);
          }}
          aria-label="Language of the program"
          fullWidth
          maw={420}
        />
        <CodeBlock code={program(programs)} label={`Program: ${label}`} />
        <Text size="sm" c="dimmed">
          The program needs an API key in SHOAL_API_KEY.
        </Text>
      </Stack>
    </Section>
  );
}
