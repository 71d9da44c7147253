// Starts `culexc lsp` for .job files. Colours and brackets work without it.
"use strict";

const vscode = require("vscode");

let client;

// The library that speaks with the server comes by npm, and may not have been installed.
function libraryLoad() {
    try {
        return require("vscode-languageclient/node");
    } catch (error) {
        if (error.code !== "MODULE_NOT_FOUND")
            throw error;
        vscode.window.showWarningMessage(
            `Culex: colours only. For the language server run "npm install --omit=dev" in ${__dirname}.`);
        return undefined;
    }
}

async function serverStart() {
    const library = libraryLoad();
    if (library === undefined)
        return;
    const settings = vscode.workspace.getConfiguration("culex");
    const server = {
        command: settings.get("path"),
        args: ["lsp", ...settings.get("arguments")],
        transport: library.TransportKind.stdio,
    };
    client = new library.LanguageClient("culex", "Culex jobs", server, {
        documentSelector: [{ language: "culex-job" }],
    });
    try {
        await client.start();
    } catch (error) {
        client = undefined;
        vscode.window.showErrorMessage(
            `Culex: "${server.command}" does not start (${error.message}). The setting culex.path says where culexc is.`);
    }
}

async function serverStop() {
    const running = client;
    client = undefined;
    if (running !== undefined)
        await running.stop();
}

async function activate(context) {
    const restart = async () => {
        await serverStop();
        await serverStart();
    };
    context.subscriptions.push(
        vscode.commands.registerCommand("culex.restart", restart),
        vscode.workspace.onDidChangeConfiguration(
            (event) => event.affectsConfiguration("culex") ? restart() : undefined));
    await serverStart();
}

module.exports = { activate, deactivate: serverStop };
