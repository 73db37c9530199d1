// What a server adds to the explorer: other columns, other numbers of clusters, and exports of the model.
function catalpaServer() {
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
      else if (value !== false && value !== null) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.flat());
    return made;
  };

  async function ask(path, wish) {
    const sent = wish === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wish) };
    const response = await fetch(path, sent);
    if (!response.ok) throw new Error((await response.json()).error);
    return response;
  }

  let version = null; // of the clusters that are shown
  let begin = () => {}, showCommand = () => {}; // once the panel is there
  // Names, merges, splits and the shown number are in the file of edits, which the command then names.
  const isEdited = (edits) => edits.merges.length || edits.splits.length || Object.keys(edits.names).length || edits.n_clusters !== edits.model_clusters;

  function panel(explorer, shownState) {
    const state = shownState;
    const boxes = state.columns.map((column) => element("input", { type: "checkbox", checked: column.used, value: column.name }));
    // Besides its categories or numbers, a column can be taken as it is in the file, or as categories.
    const uses = state.columns.map((column) => {
      const choices = column.found ? ["as found", "as it is", "categories"] : ["as found", "categories"];
      const told = { "as found": column.found ? `as found: ${column.found}` : "as it is", "as it is": "as it is", categories: "as categories" };
      return element("select", { "aria-label": `How ${column.name} is used` }, choices.map((one) => {
        const option = element("option", { value: one, selected: one === column.use });
        option.textContent = told[one];
        return option;
      }));
    });
    const number = element("input", { type: "text", id: "wanted-number", inputmode: "numeric", size: 6, value: explorer.number(), "aria-label": "Number of clusters, or auto" });
    const message = element("p", { class: "status", role: "status", "aria-live": "polite", id: "server-status" });
    const command = element("code", { id: "command" }, state.command);
    const again = element("button", { type: "button", id: "fit" }, "Cluster again");
    const cancel = element("button", { type: "button", id: "cancel", hidden: true }, "Cancel");
    let commands = state;
    showCommand = () => {
      const hasEdits = isEdited(explorer.edited());
      command.textContent = hasEdits ? commands.command_with_edits : commands.command;
      editsNote.hidden = !hasEdits;
    };
    const editsNote = element("span", { hidden: true }, " clusters.json is saved with \u201cSave names and notes\u201d.");
    const busy = (running) => { again.disabled = running; cancel.hidden = !running; };

    async function watch() {
      const now = await (await ask("state")).json();
      commands = now;
      showCommand();
      if (now.busy) {
        busy(true);
        message.textContent = now.progress;
        setTimeout(() => watch().catch(failed), 200);
        return;
      }
      busy(false);
      message.textContent = now.error || "";
      judgeLater(now.version);
      if (now.version !== version) {
        version = now.version;
        const data = await (await ask("data")).json();
        explorer.show(data);
      }
    }
    // The verdict compares random samples of the rows, which takes longer than the page.
    async function judgeLater(shown) {
      const now = await (await ask("state")).json();
      if (now.version !== shown || now.busy) return;
      if (now.verdict) explorer.judge(now.verdict);
      else setTimeout(() => judgeLater(shown).catch(() => {}), 500);
    }
    judgeLater(state.version).catch(() => {});
    begin = (path, wish) => { busy(true); ask(path, wish).then(watch).catch(failed); };
    const failed = (error) => { busy(false); message.textContent = error.message; };

    again.addEventListener("click", () => {
      const wanted = number.value.trim();
      const columns = boxes.filter((box) => box.checked).map((box) => box.value);
      const used = Object.fromEntries(state.columns.map((column, at) => [column.name, uses[at].value]));
      begin("fit", { columns, uses: used, n_clusters: /^\d+$/.test(wanted) ? Number(wanted) : wanted });
    });
    cancel.addEventListener("click", () => ask("cancel", {}).catch(failed));
    const exported = (kind, name, type) => element("button", { type: "button", id: `export-${kind}`, on: { click: async () => {
      try {
        const response = await ask(`export/${kind}`, explorer.edited());
        explorer.save(name, await response.text(), type);
        message.textContent = "";
      } catch (error) { failed(error); }
    } } }, `Save ${name}`);
    // Another tab may have clustered in the meantime.
    document.addEventListener("visibilitychange", () => { if (!document.hidden && !again.disabled) watch().catch(failed); });

    showCommand();
    return element("section", { id: "settings" },
      element("details", {},
        element("summary", {}, element("span", { class: "title" }, "Columns and number of clusters")),
        element("div", { class: "inside" },
          element("fieldset", { class: "columns-used" }, element("legend", {}, "Columns to cluster"), state.columns.map((column, at) => element("div", { class: "column" }, element("label", { title: column.name }, boxes[at], ` ${explorer.short(column.title)}`), uses[at]))),
          element("p", { class: "pick" }, element("label", {}, "Number of clusters, or auto", number), again, cancel, exported("model", "model.json", "application/json"), exported("report", "report.html", "text/html"), exported("recipe", "recipe.json", "application/json")),
          element("p", { class: "key" }, "The same from a shell, where the command names recipe.json with that file: ", command, editsNote))),
      message);
  }

  return {
    edited: () => showCommand(),
    split: (cluster) => begin("split", { cluster }),
    async extend(explorer) {
      const state = await (await ask("state")).json();
      if (version === null) version = state.version;
      return panel(explorer, state);
    },
  };
}
