package wire

import "slices"

// AppendPromises says in a Batch that answers may be promises.
func AppendPromises(batch []byte) []byte {
	p := pen{data: batch}
	p.flag(batchPromises, true)
	return p.data
}

// Promises reports whether the answers to a Batch may be promises.
func Promises(batch []byte) (may bool) {
	q := new(quick)
	for f := q.fields(batch); f.more(); {
		if f.key == batchPromises<<3|number {
			may = f.value != 0
		}
	}
	return may
}

// AppendPromise makes a promise of a BatchReply: its answers hold once the log has
// acknowledged their commit at that subject below the one it is sent to.
func AppendPromise(batch []byte, at string) []byte {
	p := pen{data: batch}
	p.text(batchPromise, at)
	return p.data
}

// Promise is where the acknowledgement of a BatchReply's promise is heard; empty
// if it is none.
func Promise(batch []byte) string {
	q := new(quick)
	for f := q.fields(batch); f.more(); {
		if f.key == batchPromise<<3|text {
			return string(f.bytes)
		}
	}
	return ""
}

// Fields of CommandReply and of its Instance that a promise leaves open.
const (
	replySeq          = 1
	replyInstance     = 5
	instanceEnteredAt = 7
	instanceWork      = 15
	instanceSeq       = 33
	instanceEntered   = 36
)

// Kept is the encoded CommandReply of a promise with the sequence in it: of what is
// there twice a decoder takes the later, and one Instance it adds to the other.
func Kept(reply []byte, seq uint64) []byte {
	var stays, works, entered bool
	q := new(quick)
	for f := q.fields(reply); f.more(); {
		if f.key != replyInstance<<3|text {
			continue
		}
		for in := q.fields(f.bytes); in.more(); {
			switch in.key >> 3 {
			case instanceEnteredAt:
				stays = true
			case instanceWork:
				works = true
			case instanceEntered:
				entered = true
			}
		}
	}
	p := pen{data: slices.Clip(reply)}
	p.number(replySeq, seq)
	at := p.open(replyInstance)
	p.number(instanceSeq, seq)
	if !works {
		p.number(instanceWork, seq)
	}
	if stays && !entered {
		p.number(instanceEntered, seq)
	}
	p.close(at)
	return p.data
}
