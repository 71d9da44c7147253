// The extension for Visual Studio Code, run by Node with stand-ins for the editor and for the
// library that npm brings: what it starts is the real server, which is asked for its capabilities.
//
// usage: vscode_test.js EXTENSION CULEXC
"use strict";

const assert = require("assert");
const child_process = require("child_process");
const fs = require("fs");
const Module = require("module");
const path = require("path");

const [extension, culexc] = process.argv.slice(2).map((name) => path.resolve(name));
const manifest = JSON.parse(fs.readFileSync(path.join(extension, "package.json")));
const said = [], commands = {}, running = new Set();
let settings, hasLibrary, onChange;

const vscode = {
    window: {
        showWarningMessage: (text) => said.push(text),
        showErrorMessage: (text) => said.push(text),
    },
    workspace: {
        getConfiguration: (section) => ({ get: (name) => settings[`${section}.${name}`] }),
        onDidChangeConfiguration: (listener) => { onChange = listener; return {}; },
    },
    commands: { registerCommand: (name, call) => { commands[name] = call; return {}; } },
};

// Starts the command and waits for the answer to `initialize`.
class LanguageClient {
    constructor(id, name, server, options) {
        Object.assign(this, { server, options });
    }

    start() {
        return new Promise((resolve, reject) => {
            const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { capabilities: {} } });
            this.process = child_process.spawn(this.server.command, this.server.args, { stdio: ["pipe", "pipe", "inherit"] });
            this.process.on("error", reject);
            this.process.stdin.on("error", () => {});
            this.answer = "";
            this.process.stdout.on("data", (data) => {
                this.answer += data;
                const [, length, rest] = this.answer.match(/^Content-Length: (\d+)\r\n\r\n(.*)$/s) ?? [];
                if (rest === undefined || Buffer.byteLength(rest) < Number(length))
                    return;
                running.add(this);
                resolve();
            });
            this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
        });
    }

    stop() {
        running.delete(this);
        return new Promise((resolve) => {
            this.process.on("exit", resolve);
            this.process.stdin.end();
        });
    }
}

const load = Module._load;
Module._load = (name, ...rest) => {
    if (name === "vscode")
        return vscode;
    if (name !== "vscode-languageclient/node")
        return load(name, ...rest);
    if (!hasLibrary)
        throw Object.assign(new Error("not found"), { code: "MODULE_NOT_FOUND" });
    return { LanguageClient, TransportKind: { stdio: 0 } };
};

function defaults() {
    const found = {};
    for (const [name, setting] of Object.entries(manifest.contributes.configuration.properties))
        found[name] = setting.default;
    return found;
}

async function main() {
    const { activate, deactivate } = require(path.join(extension, manifest.main));
    const context = { subscriptions: [] };

    hasLibrary = false;
    settings = defaults();
    assert.deepStrictEqual(settings, { "culex.path": "culexc", "culex.arguments": [] });
    await activate(context);
    assert.match(said.pop(), /npm install/);
    assert.strictEqual(running.size, 0);

    hasLibrary = true;
    settings["culex.path"] = culexc;
    settings["culex.arguments"] = ["-I", "."];
    await activate(context);
    const [client] = running;
    assert.match(client.answer, /"semanticTokensProvider"/);
    assert.deepStrictEqual(client.server.args, ["lsp", "-I", "."]);
    assert.deepStrictEqual(client.options.documentSelector, [{ language: manifest.contributes.languages[0].id }]);

    assert.deepStrictEqual(Object.keys(commands), manifest.contributes.commands.map((each) => each.command));
    await commands["culex.restart"]();
    assert.strictEqual(running.size, 1);
    assert(!running.has(client), "another one");
    await onChange({ affectsConfiguration: (section) => section === "editor" });
    const [kept] = running;
    await onChange({ affectsConfiguration: (section) => section === "culex" });
    assert(!running.has(kept) && running.size === 1);

    settings["culex.path"] = "/nowhere/culexc";
    await commands["culex.restart"]();
    assert.match(said.pop(), /culex\.path/);
    assert.strictEqual(running.size, 0);
    await deactivate();
    assert.deepStrictEqual(said, []);
    assert(manifest.dependencies["vscode-languageclient"]);
    console.log("the extension starts the server, restarts it, and says what is missing");
}

main().catch((error) => { console.error(error); process.exit(1); });
