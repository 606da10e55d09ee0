import { SegmentedControl, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { serviceUrl } from "../../../base/place.ts";
import { CodeBlock } from "../../../parts/code.tsx";
import { Section } from "../../../parts/detail/section.tsx";
import { connectProgramsOf } from "./connect-programs.ts";

/** How other programs connect to the running session. */
export function ConnectCard({ sessionId }: { readonly sessionId: string }) {
  const programs = connectProgramsOf(sessionId, serviceUrl);
  const [label, setLabel] = useState("CDP");
  const code = programs.find((program) => program.label === label)?.code ?? "";
  return (
    <Section title="Connect">
      <Stack gap="sm">
        <SegmentedControl
          data={programs.map((program) => program.label)}
          value={label}
          onChange={setLabel}
          aria-label="Client"
          fullWidth
        />
        <CodeBlock code={code} label={`Connect: ${label}`} />
        <Text size="sm" c="dimmed">
          The client needs an API key in SHOAL_API_KEY. Without sessionId, the address creates a session.
        </Text>
      </Stack>
    </Section>
  );
}
