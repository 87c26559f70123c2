#!/usr/bin/env python3
"""Verify a bundle of signalbox audit --export, with the standard library alone: see docs/bundle.md.

usage: verify_bundle.py FILE KEY

It is a second implementation of that page, and shares no code with Signalbox. The library has no Ed25519:
the last lines say what that leaves, and how openssl checks it.
"""

import base64
import hashlib
import json
import struct
import sys
import zipfile


class Refused(Exception):
    pass


def require(holds, reason):
    if not holds:
        raise Refused(reason)


def sha256(data):
    return hashlib.sha256(data).digest()


# The Merkle tree of RFC 6962.


def leaf_hash(text):
    return sha256(b"\x00" + text)


def node(left, right):
    return sha256(b"\x01" + left + right)


class Tree:
    """Tree computes a root of any number of leaves in little memory."""

    def __init__(self):
        self.size, self.full = 0, []  # full has the roots of complete subtrees, (leaves, hash), largest first

    def add(self, text):
        leaves, last = 1, leaf_hash(text)
        while self.full and self.full[-1][0] == leaves:
            _, left = self.full.pop()
            leaves, last = 2 * leaves, node(left, last)
        self.full.append((leaves, last))
        self.size += 1

    def root(self):
        if not self.full:
            return sha256(b"")
        all_of = self.full[-1][1]
        for _, left in reversed(self.full[:-1]):
            all_of = node(left, all_of)
        return all_of


def root_of(at, size, leaf, hashes):
    """root_of returns the root that an inclusion proof leads to (RFC 9162, 2.1.3.2)."""
    require(0 <= at < size, "a proof is of leaf %d of %d" % (at, size))
    first, last = at, size - 1
    for step in hashes:
        require(last > 0, "a proof is too long")
        if first & 1 or first == last:
            leaf = node(step, leaf)
            while not first & 1 and first:
                first, last = first >> 1, last >> 1
        else:
            leaf = node(leaf, step)
        first, last = first >> 1, last >> 1
    require(last == 0, "a proof is too short")
    return leaf


# The chain of commits.


def netstring(field):
    return b"%d:%s," % (len(field), field)


def chain_of(previous, r):
    text = [previous, r["id"], r["workflow"], r["state"], r["instance"], "work" if r["wakes"] else "note", r["time"], str(r["prev"])]
    data = base64.b64decode(r["data"], validate=True)
    return sha256(b"".join(netstring(t.encode()) for t in text) + netstring(data)).hex()


def records(lines, instance):
    """records checks the numbers and the chains, and yields each record."""
    heads, seq = {}, 0
    for line in lines:
        r = json.loads(line)
        name = r["instance"]
        n, prev, chain = heads.get(name, (0, 0, ""))
        if instance:
            require(name == instance and r["seq"] > seq, "sequence %d does not belong here" % r["seq"])
        else:
            require(r["seq"] == seq + 1, "sequence %d comes where %d belongs" % (r["seq"], seq + 1))
        require(r["n"] == n + 1 and r["prev"] == prev, "sequence %d is not the next one of %s" % (r["seq"], name))
        if not r.get("erased"):
            require(r["chain"] == chain_of(chain, r), "sequence %d was changed: its chain does not fit its content" % r["seq"])
        heads[name], seq = (r["n"], r["seq"], r["chain"]), r["seq"]
        yield r
    if instance:
        require(instance in heads, "it has no record of %s" % instance)


def leaf_of(r):
    return b"%d %d %s %s\n" % (r["seq"], r["n"], r["chain"].encode(), r["instance"].encode())


def index_leaf(name, n, chain):
    return b"%d %s %s\n" % (n, chain.encode(), name.encode())


def unhash(text):
    data = base64.b64decode(text, validate=True)
    require(len(data) == 32, "a hash has %d bytes" % len(data))
    return data


# The file.


def read_checkpoint(note, key):
    """read_checkpoint returns the lines of the checkpoint, and checks whose key its signature names."""
    text, split, signatures = note.decode().partition("\n\n")
    lines = text.split("\n")
    require(split and len(lines) == 5, "the checkpoint has not its 5 lines and a signature")
    signature = [s.split(" ") for s in signatures.splitlines() if s.startswith("\u2014 signalbox-seal ")]
    require(len(signature) == 1, "the checkpoint has not one signature of a seal")
    raw = base64.b32decode(key + "=" * (-len(key) % 8))
    require(len(raw) == 35 and key.startswith("O"), "want a public key that begins with O")
    public = raw[1:33]
    blob = base64.b64decode(signature[0][2], validate=True)
    require(blob[:4] == sha256(b"signalbox-seal\n\x01" + public)[:4], "the checkpoint is signed with another key")
    return lines, (text + "\n").encode(), blob[4:], public


def content(bundle, files, name):
    """content returns a file that the manifest has the hash of."""
    data = bundle.read(name)
    require(name in files, "%s is not in the manifest" % name)
    require(sha256(data).hex() == files[name]["sha256"] and len(data) == files[name]["bytes"], "%s is not what was exported" % name)
    return data


def seal_digest(seal, all_records):
    digest = bytes(32)
    for r in all_records:
        if r["seq"] > seal["seq"]:
            break
        digest = sha256(digest + b"%d %s\n" % (r["seq"], r["chain"].encode()))
    return digest.hex()


def verify(file, key):
    bundle = zipfile.ZipFile(file)
    names = bundle.namelist()
    require(len(names) == len(set(names)), "a file is there twice")
    for name in ("checkpoint", "manifest.json", "log.jsonl"):
        require(name in names, "%s is missing" % name)
    lines, text, signature, public = read_checkpoint(bundle.read("checkpoint"), key)
    size, root = int(lines[1]), unhash(lines[2])
    instances, index = int(lines[3].split(" ")[1]), unhash(lines[3].split(" ")[2])
    manifest_text = bundle.read("manifest.json")
    require("manifest " + sha256(manifest_text).hex() == lines[4], "manifest.json is not the one that was signed")
    manifest = json.loads(manifest_text)
    require(manifest["format"] == 1, "its format is not 1")
    require(lines[0] == "signalbox log " + manifest["identity"], "the checkpoint is of another log")
    files = {f["path"]: f for f in manifest["files"]}
    for name in files:
        require(name in names, "%s is missing" % name)
    for name in names:
        require(name in files or name in ("checkpoint", "manifest.json"), "%s is not in the manifest" % name)
    for name in files:
        data = content(bundle, files, name)
        folder, _, rest = name.partition("/")
        if folder in ("definitions", "objects"):
            require(sha256(data).hex() == rest, "%s is not named for its hash" % name)

    instance = manifest.get("instance", "")
    log = content(bundle, files, "log.jsonl").splitlines()
    erased, heads, tree, all_records = 0, {}, Tree(), []
    for r in records(log, instance):
        erased += bool(r.get("erased"))
        heads[r["instance"]] = (r["n"], r["chain"])
        tree.add(leaf_of(r))
        all_records.append(r)
    if instance:
        proofs = [json.loads(line) for line in content(bundle, files, "proof.jsonl").splitlines()]
        require(len(proofs) == len(all_records) + 1, "a record has no proof")
        for r, p in zip(all_records, proofs):
            hashes = [unhash(h) for h in p["hashes"] or []]
            require(root_of(r["seq"] - 1, size, leaf_hash(leaf_of(r)), hashes) == root, "sequence %d is not in the log that was signed" % r["seq"])
        hashes = [unhash(h) for h in proofs[-1]["hashes"] or []]
        leaf = leaf_hash(index_leaf(instance, *heads[instance]))
        require(root_of(proofs[-1]["leaf"], instances, leaf, hashes) == index, "these are not all records of %s" % instance)
    else:
        require(tree.size == size and tree.root() == root, "the records are not those of the log that was signed")
        index_tree = Tree()
        for name in sorted(heads, key=str.encode):
            index_tree.add(index_leaf(name, *heads[name]))
        require(index_tree.size == instances and index_tree.root() == index, "the instances are not those of the log that was signed")
    if "seal.json" in files:
        seal = json.loads(content(bundle, files, "seal.json"))
        require(seal["key"] == key, "the seal is of another key")
        require(seal["digest"] == seal_digest(seal, all_records), "the log is not the one that was sealed")

    print("records      %d of %s, of a log of %d records and %d instances" % (len(all_records), instance or "the whole log", size, instances))
    print("checked      every hash, chain and proof, %d definitions, %d objects%s" % (
        sum(n.startswith("definitions/") for n in files), sum(n.startswith("objects/") for n in files),
        ", the digest of the seal" if "seal.json" in files else ""))
    if erased:
        print("erased       %d records; not checked: the signatures for what is left of them" % erased)
    print("not checked: the signature of the checkpoint: Python's standard library has no Ed25519. It is by the key %s," % key)
    print("             or by nobody. Until it is checked, anybody may have made this bundle.")
    print("not checked: that each move was permitted: signalbox audit --bundle decides that.")
    return text, signature, public


def der(public):
    return bytes.fromhex("302a300506032b6570032100") + public


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        text, signature, public = verify(sys.argv[1], sys.argv[2])
    except (Refused, zipfile.BadZipFile, ValueError, KeyError, TypeError, AttributeError, IndexError, OSError, struct.error) as why:
        print("refused: %s" % why)
        sys.exit(1)
    for ending, data in ((".text", text), (".sig", signature), (".der", der(public))):
        with open(sys.argv[1] + ending, "wb") as f:
            f.write(data)
    print("to check it: openssl pkeyutl -verify -rawin -pubin -keyform DER -inkey F.der -sigfile F.sig -in F.text, where F is %s" % sys.argv[1])


if __name__ == "__main__":
    main()
