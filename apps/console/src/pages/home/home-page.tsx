import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { Columns } from "../../parts/detail/columns.tsx";
import { Section } from "../../parts/detail/section.tsx";
import { Page } from "../../parts/page.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { CreateCard } from "./create-card.tsx";
import { programsOf } from "./programs.ts";
import { RecentSessions } from "./recent-sessions.tsx";
import { nothingWanted, type Wanted } from "./wanted.ts";

export function HomePage() {
  const { session } = useSignedIn();
  const canOperate = useCanOperate();
  const [wanted, setWanted] = useState<Wanted>({ ...nothingWanted, start_url: "https://example.com/" });
  return (
    <Page
      title="Home"
      description={`Welcome, ${session.principal.name}. Start a browser here, or from a program with the same options.`}
    >
      <Columns>
        {canOperate && <CreateCard wanted={wanted} setWanted={setWanted} />}
        <ProgramCard programs={programsOf(wanted)} />
      </Columns>
      <Section
        title="Running sessions"
        actions={
          <Anchor size="sm" renderRoot={(props) => <Link to="/sessions" {...props} />}>
            All sessions
          </Anchor>
        }
      >
        <RecentSessions />
      </Section>
      <Text size="xs" c="dimmed">
        Press ? for keyboard shortcuts.
      </Text>
    </Page>
  );
}
