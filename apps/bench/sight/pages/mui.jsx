import * as Mui from "@mui/material";
import { AdapterDayjs } from "@mui/x-date-pickers/AdapterDayjs";
import { DateCalendar } from "@mui/x-date-pickers/DateCalendar";
import { DatePicker } from "@mui/x-date-pickers/DatePicker";
import { LocalizationProvider } from "@mui/x-date-pickers/LocalizationProvider";
import { SimpleTreeView } from "@mui/x-tree-view/SimpleTreeView";
import { TreeItem } from "@mui/x-tree-view/TreeItem";
import dayjs from "dayjs";
import { useState } from "react";
import { done, show } from "./show.jsx";

const colours = ["Red", "Green", "Blue"];
const may = dayjs("2027-05-10");
const day = (date) => done(date?.format("YYYY-MM-DD"));

function Select() {
  const [value, setValue] = useState("Red");
  return (
    <Mui.FormControl>
      <Mui.InputLabel id="c">Colour</Mui.InputLabel>
      <Mui.Select
        labelId="c"
        label="Colour"
        value={value}
        onChange={(e) => (setValue(e.target.value), done(e.target.value))}
      >
        {colours.map((c) => (
          <Mui.MenuItem key={c} value={c}>
            {c}
          </Mui.MenuItem>
        ))}
      </Mui.Select>
    </Mui.FormControl>
  );
}

function Menu() {
  const [anchor, setAnchor] = useState(null);
  return (
    <>
      <Mui.Button onClick={(e) => setAnchor(e.currentTarget)}>Actions</Mui.Button>
      <Mui.Menu anchorEl={anchor} open={anchor !== null} onClose={() => setAnchor(null)}>
        {["Rename", "Archive"].map((t) => (
          <Mui.MenuItem key={t} onClick={() => (done(t), setAnchor(null))}>
            {t}
          </Mui.MenuItem>
        ))}
      </Mui.Menu>
    </>
  );
}

function Dialog() {
  const [open, setOpen] = useState(false);
  const [colour, setColour] = useState("Red");
  return (
    <>
      <Mui.Button onClick={() => setOpen(true)}>Edit</Mui.Button>
      <Mui.Dialog open={open} onClose={() => setOpen(false)}>
        <Mui.DialogTitle>Settings</Mui.DialogTitle>
        <Mui.DialogContent>
          <Mui.TextField
            select
            label="Colour"
            value={colour}
            onChange={(e) => setColour(e.target.value)}
            sx={{ minWidth: 200, mt: 1 }}
          >
            {colours.map((c) => (
              <Mui.MenuItem key={c} value={c}>
                {c}
              </Mui.MenuItem>
            ))}
          </Mui.TextField>
        </Mui.DialogContent>
        <Mui.DialogActions>
          <Mui.Button onClick={() => (done(colour), setOpen(false))}>Save</Mui.Button>
        </Mui.DialogActions>
      </Mui.Dialog>
    </>
  );
}

function Tabs() {
  const [tab, setTab] = useState(0);
  return (
    <Mui.Tabs value={tab} onChange={(_, next) => (setTab(next), done(`tab ${next}`))}>
      {["General", "Billing", "Team"].map((t) => (
        <Mui.Tab key={t} label={t} />
      ))}
    </Mui.Tabs>
  );
}

show({
  select: Select,
  menu: Menu,
  "select in a dialog": Dialog,
  tabs: Tabs,
  autocomplete: () => (
    <Mui.Autocomplete
      options={["Lisbon", "London", "Lyon"]}
      sx={{ width: 300 }}
      onChange={(_, v) => done(v)}
      renderInput={(p) => <Mui.TextField {...p} label="City" />}
    />
  ),
  switch: () => <Mui.FormControlLabel label="Wifi" control={<Mui.Switch onChange={(e) => done(e.target.checked)} />} />,
  slider: () => (
    <Mui.Box sx={{ width: 300, p: 4 }}>
      <Mui.Slider aria-label="Volume" defaultValue={30} onChange={(_, v) => done(v)} />
    </Mui.Box>
  ),
  rating: () => <Mui.Rating name="stars" onChange={(_, v) => done(v)} />,
  "date calendar": () => (
    <LocalizationProvider dateAdapter={AdapterDayjs}>
      <DateCalendar defaultValue={may} onChange={day} />
    </LocalizationProvider>
  ),
  "date picker": () => (
    <LocalizationProvider dateAdapter={AdapterDayjs}>
      <DatePicker label="Arrival" defaultValue={may} onChange={day} />
    </LocalizationProvider>
  ),
  tree: () => (
    <SimpleTreeView onSelectedItemsChange={(_, id) => done(id)}>
      <TreeItem itemId="docs" label="Documents">
        <TreeItem itemId="invoice" label="Invoice" />
        <TreeItem itemId="letter" label="Letter" />
      </TreeItem>
      <TreeItem itemId="pictures" label="Pictures" />
    </SimpleTreeView>
  ),
  accordion: () => (
    <Mui.Accordion>
      <Mui.AccordionSummary expandIcon="v">Shipping</Mui.AccordionSummary>
      <Mui.AccordionDetails>
        <Mui.Button onClick={() => done("express")}>Express</Mui.Button>
      </Mui.AccordionDetails>
    </Mui.Accordion>
  ),
});
