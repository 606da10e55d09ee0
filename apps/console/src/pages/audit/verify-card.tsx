import { Alert, Button, Card, Code, Group, Stack, Text, TextInput } from "@mantine/core";
import "@mantine/core/styles/Code.css";
import type { AuditLogVerification } from "@shoal/schemas";
import { useMutation } from "@tanstack/react-query";
import { ShieldAlert, ShieldCheck } from "lucide-react";
import { type SyntheticEvent, useState } from "react";
import { useSignedIn } from "../../api/shoal.ts";
import { CopyIcon } from "../../parts/code.tsx";
import { Failure } from "../../parts/states.tsx";

const counts = new Intl.NumberFormat();

/** Checks the chain of hashes of the log. */
export function VerifyCard() {
  const { shoal } = useSignedIn();
  const [head, setHead] = useState("");
  const check = useMutation({
    mutationFn: async () => shoal.auditLogs.verify(head.trim() === "" ? {} : { known_head: head.trim() }),
  });
  return (
    <Card withBorder>
      <Stack gap="sm">
        <form
          onSubmit={(event: SyntheticEvent) => {
            event.preventDefault();
            check.mutate();
          }}
        >
          <Group align="flex-end" gap="sm">
            <TextInput
              label="Head of an earlier check (optional)"
              description="Detects a log that was reset to an earlier state"
              placeholder="1042:9f2c…"
              value={head}
              onChange={({ currentTarget: { value } }) => {
                setHead(value);
              }}
              style={{ flex: "1 1 260px" }}
            />
            <Button type="submit" loading={check.isPending} leftSection={<ShieldCheck size={16} aria-hidden />}>
              Verify the log
            </Button>
          </Group>
        </form>
        {check.error !== null && <Failure error={check.error} />}
        {check.data !== undefined && <Verdict result={check.data} />}
      </Stack>
    </Card>
  );
}

function Verdict({ result: { valid, entries, head, problem } }: { readonly result: AuditLogVerification }) {
  return (
    <Alert
      color={valid ? "green" : "red"}
      icon={valid ? <ShieldCheck aria-hidden /> : <ShieldAlert aria-hidden />}
      title={valid ? "No entry was changed or removed" : "The log was changed"}
      role="status"
    >
      <Stack gap="xs">
        <Text size="sm">{problem?.message ?? `${counts.format(entries)} entries were checked.`}</Text>
        {valid && head !== "" && (
          <Group gap={4} wrap="nowrap">
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              Store this head elsewhere for the next check: <Code>{head}</Code>
            </Text>
            <CopyIcon value={head} label="Copy the head" />
          </Group>
        )}
      </Stack>
    </Alert>
  );
}
