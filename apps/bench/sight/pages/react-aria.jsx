import * as A from "react-aria-components";
import { useState } from "react";
import { done, show } from "./show.jsx";

const box = { border: "1px solid #888", background: "#fff", padding: 6 };
const cell = (date) => <A.CalendarCell date={date} />;
const calendar = <A.CalendarGrid>{cell}</A.CalendarGrid>;

function Sortable() {
  const [items, setItems] = useState(["Alpha", "Beta", "Gamma"]);
  const { dragAndDropHooks } = A.useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ "text/plain": key })),
    onReorder(e) {
      const [moved] = [...e.keys];
      const rest = items.filter((i) => i !== moved);
      rest.splice(rest.indexOf(e.target.key) + (e.target.dropPosition === "after" ? 1 : 0), 0, moved);
      setItems(rest);
      done(rest.join());
    },
  });
  return (
    <A.GridList
      aria-label="Letters"
      items={items.map((id) => ({ id }))}
      dragAndDropHooks={dragAndDropHooks}
      style={{ width: 200 }}
    >
      {({ id }) => (
        <A.GridListItem textValue={id} style={{ padding: 8 }}>
          <A.Button slot="drag">=</A.Button>
          {id}
        </A.GridListItem>
      )}
    </A.GridList>
  );
}

show({
  select: () => (
    <A.Select onChange={done} onSelectionChange={done}>
      <A.Label>Colour</A.Label>
      <A.Button>
        <A.SelectValue />
      </A.Button>
      <A.Popover style={box}>
        <A.ListBox>
          {["Red", "Green"].map((c) => (
            <A.ListBoxItem key={c} id={c}>
              {c}
            </A.ListBoxItem>
          ))}
        </A.ListBox>
      </A.Popover>
    </A.Select>
  ),
  combobox: () => (
    <A.ComboBox onChange={done} onSelectionChange={done}>
      <A.Label>City</A.Label>
      <A.Input />
      <A.Button>v</A.Button>
      <A.Popover style={box}>
        <A.ListBox>
          {["Lisbon", "London"].map((c) => (
            <A.ListBoxItem key={c} id={c}>
              {c}
            </A.ListBoxItem>
          ))}
        </A.ListBox>
      </A.Popover>
    </A.ComboBox>
  ),
  "number field": () => (
    <A.NumberField defaultValue={3} onChange={done}>
      <A.Label>Guests</A.Label>
      <A.Group>
        <A.Button slot="decrement">-</A.Button>
        <A.Input />
        <A.Button slot="increment">+</A.Button>
      </A.Group>
    </A.NumberField>
  ),
  "date field": () => (
    <A.DateField onChange={(d) => done(d)}>
      <A.Label>Birthday</A.Label>
      <A.DateInput style={{ display: "flex" }}>{(s) => <A.DateSegment segment={s} />}</A.DateInput>
    </A.DateField>
  ),
  calendar: () => (
    <A.Calendar aria-label="Trip" onChange={(d) => done(d.day)}>
      <header>
        <A.Button slot="previous">Back</A.Button>
        <A.Heading />
        <A.Button slot="next">Next</A.Button>
      </header>
      {calendar}
    </A.Calendar>
  ),
  "color slider": () => (
    <A.ColorSlider
      channel="hue"
      defaultValue="hsl(30, 100%, 50%)"
      onChange={(c) => done(Math.round(c.getChannelValue("hue")))}
      style={{ width: 200 }}
    >
      <A.Label>Hue</A.Label>
      <A.SliderTrack style={{ height: 20, background: "#ddd" }}>
        <A.ColorThumb style={{ width: 16, height: 16, background: "#444", top: "50%" }} />
      </A.SliderTrack>
    </A.ColorSlider>
  ),
  "tag group": () => (
    <A.TagGroup selectionMode="multiple" onSelectionChange={(k) => done([...k].join())}>
      <A.Label>Tags</A.Label>
      <A.TagList style={{ display: "flex", gap: 8 }}>
        {["News", "Sport"].map((t) => (
          <A.Tag key={t} id={t}>
            {t}
          </A.Tag>
        ))}
      </A.TagList>
    </A.TagGroup>
  ),
  table: () => (
    <A.Table aria-label="Files" selectionMode="single" onSelectionChange={(k) => done([...k][0])}>
      <A.TableHeader>
        <A.Column isRowHeader>Name</A.Column>
        <A.Column>Type</A.Column>
      </A.TableHeader>
      <A.TableBody>
        {["Boat", "Net"].map((n) => (
          <A.Row key={n} id={n}>
            <A.Cell>{n}</A.Cell>
            <A.Cell>Picture</A.Cell>
          </A.Row>
        ))}
      </A.TableBody>
    </A.Table>
  ),
  "sortable list": Sortable,
  disclosure: () => (
    <A.Disclosure>
      <A.Heading>
        <A.Button slot="trigger">Details</A.Button>
      </A.Heading>
      <A.DisclosurePanel>
        <A.Button onPress={() => done("shown")}>Show more</A.Button>
      </A.DisclosurePanel>
    </A.Disclosure>
  ),
});
